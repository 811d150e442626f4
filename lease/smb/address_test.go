package smb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]address{
		"smb://pos@nas/relay/socket":           {user: "pos", host: "nas", port: "445", share: "relay", folder: "socket"},
		"SMB://pos@nas/relay":                  {user: "pos", host: "nas", port: "445", share: "relay"},
		"smb://SITE;pos@10.0.0.5:4450/r/a/b/":  {domain: "SITE", user: "pos", host: "10.0.0.5", port: "4450", share: "r", folder: "a/b"},
		`smb://SITE\pos@nas/r/a`:               {domain: "SITE", user: "pos", host: "nas", port: "445", share: "r", folder: "a"},
		"smb://pos%40x@nas/shared%20files/soc": {user: "pos@x", host: "nas", port: "445", share: "shared files", folder: "soc"},
	} {
		got, err := parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestParse_Refuses(t *testing.T) {
	for text, says := range map[string]string{
		`\\nas\relay`:                 "smb://",
		`smb://pos@nas\relay\socket`:  "not a valid address",
		"smb://nas/relay":             "no user",
		"smb://pos@/relay":            "no server",
		"smb://pos@nas":               "no share",
		"smb://pos@nas/":              "no share",
		"smb://pos:hush@nas/relay":    "LEASE_SMB_PASSWORD",
		"smb://pos@nas/relay?x":       "%3F",
		"smb://pos@nas/relay/../etc":  "plain folder",
		"smb://pos:hush@nas:port/r/x": "not a valid address",
	} {
		_, err := parse(text)
		require.ErrorContains(t, err, says, text)
		require.NotContains(t, err.Error(), "hush")
	}
}

func TestAddress_String(t *testing.T) {
	for _, text := range []string{"smb://pos@nas/relay/socket", "smb://SITE;pos@nas:4450/relay"} {
		a, err := parse(text)
		require.NoError(t, err)
		require.Equal(t, text, a.String())
	}
}
