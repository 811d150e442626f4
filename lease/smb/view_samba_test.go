//go:build e2e

package smb_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/sambatest"
	"github.com/convertfw/floatrelay/internal/testkit/sharetest"
	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/lease/smb"
)

// Readers of relay_leader.json on a Samba server, through SMB and on the
// server itself, see whole files only.
func TestView_ReadersSeeWholeFilesOnSamba(t *testing.T) {
	server := sambatest.Start(t, sambatest.Options{})
	require.NoError(t, os.Mkdir(filepath.Join(server.Folder, "socket"), 0o777))
	reader := open(t, server.URL("socket"), smb.Options{})
	sharetest.ViewIsSeenWhole(t, sharetest.ViewTarget{
		Write: open(t, server.URL("socket"), smb.Options{}),
		Readers: map[string]func() ([]byte, error){
			"through SMB":   func() ([]byte, error) { return reader.Read(t.Context(), lease.ViewName) },
			"on the server": func() ([]byte, error) { return os.ReadFile(filepath.Join(server.Folder, "socket", lease.ViewName)) },
		},
	})
}
