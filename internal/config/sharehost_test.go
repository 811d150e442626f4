package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShareHost(t *testing.T) {
	for dir, want := range map[string]string{
		`\\server\share\socket`:                "server",
		`\\10.0.0.5\share`:                     "10.0.0.5",
		"smb://user@fileserver:445/share/sock": "fileserver",
		"SMB://user@fileserver/share/sock":     "fileserver",
		`W:\socket`:                            "",
		"/srv/share":                           "",
		"":                                     "",
	} {
		require.Equal(t, want, Config{LeaseDir: dir}.ShareHost(), dir)
	}
}
