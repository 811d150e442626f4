//go:build e2e

package smb_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/cloudsoda/go-smb2"
	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/sambatest"
	"github.com/convertfw/floatrelay/internal/testkit/sharetest"
	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/lease/smb"
)

// onSamba is a chain with a view on a server, and the folder it is in.
func onSamba(t *testing.T, server *sambatest.Server) (chain *lease.Chain, folder string) {
	t.Helper()
	folder, err := os.MkdirTemp(server.Folder, "socket")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(folder, 0o777))
	chain = lease.NewChain(open(t, server.URL(filepath.Base(folder)), smb.Options{}))
	require.NoError(t, chain.Publish(t.Context(), viewOf(1)))
	return chain, folder
}

func viewOf(epoch uint64) lease.View {
	return lease.View{KMSN: "4711", Station: "A", IP: "192.168.1.10", Port: 9530, Epoch: epoch, LeaseUntil: "20260115123000", V: lease.Version}
}

// says demands what the file says on the server's disk, and that nothing lies
// beside it.
func says(t *testing.T, folder string, epoch uint64) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, lease.ViewName))
	require.NoError(t, err)
	require.Equal(t, string(viewOf(epoch).Encode()), string(b))
	names, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, names, 1, "a temporary file is left behind")
}

// hold opens the view as another PC does that lets nobody delete it meanwhile.
func hold(t *testing.T, server *sambatest.Server, folder string) *smb2.File {
	t.Helper()
	conn, err := net.Dial("tcp", server.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	dialer := &smb2.Dialer{Initiator: &smb2.NTLMInitiator{User: sambatest.User, Password: sambatest.Password}}
	session, err := dialer.DialConn(t.Context(), conn, server.Addr())
	require.NoError(t, err)
	fs, err := session.Mount(sambatest.Share)
	require.NoError(t, err)
	f, err := fs.Open(filepath.Base(folder) + `\` + lease.ViewName)
	require.NoError(t, err)
	return f
}

// A program on another PC that keeps the file open without letting others
// delete it, for the 150 ms of an antivirus or for good, does not hinder a
// publication on Samba (it does on Windows, see the tests of the folder): it
// goes on to see the old content, and that whole, while others see the new.
func TestView_PublicationOnSambaWhileItIsHeld(t *testing.T) {
	server := sambatest.Start(t, sambatest.Options{})
	for name, d := range map[string]time.Duration{"for 150 ms": 150 * time.Millisecond, "for good": time.Hour} {
		t.Run(name, func(t *testing.T) {
			chain, folder := onSamba(t, server)
			f := hold(t, server, folder)
			closed := time.AfterFunc(d, func() { _ = f.Close() })
			require.NoError(t, chain.Publish(t.Context(), viewOf(2)))
			says(t, folder, 2)
			if closed.Stop() {
				b, err := io.ReadAll(f)
				require.NoError(t, err)
				require.Equal(t, string(viewOf(1).Encode()), string(b))
				require.NoError(t, f.Close())
			}
			require.NoError(t, chain.Publish(t.Context(), viewOf(3)))
			says(t, folder, 3)
		})
	}
}

// A file that may not be replaced, and a disk without space: a clear error, the
// old content, and success once the cause is gone.
func TestView_PublicationOnSambaThatIsRefused(t *testing.T) {
	server := sambatest.Start(t, sambatest.Options{Disk: func(folder string) {
		out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k,mode=0777", "tmpfs", folder).CombinedOutput()
		require.NoError(t, err, "%s", out)
		t.Cleanup(func() { _ = exec.Command("umount", "-l", folder).Run() })
	}})
	t.Run("full disk", func(t *testing.T) {
		chain, folder := onSamba(t, server)
		film := filepath.Join(server.Folder, "film")
		sharetest.Fill(t, film)
		err := chain.Publish(t.Context(), viewOf(2))
		require.ErrorIs(t, err, lease.ErrFull)
		require.ErrorContains(t, err, "share full: no space left in smb://")
		says(t, folder, 1)
		require.NoError(t, os.Remove(film))
		require.NoError(t, chain.Publish(t.Context(), viewOf(2)))
		says(t, folder, 2)
	})
	t.Run("read-only share", func(t *testing.T) {
		_, folder := onSamba(t, server)
		url := sambatest.URL(server.Addr(), sambatest.ReadOnly, filepath.Base(folder))
		err := lease.NewChain(open(t, url, smb.Options{})).Publish(t.Context(), viewOf(2))
		require.ErrorIs(t, err, lease.ErrDenied)
		require.NotErrorIs(t, err, lease.ErrFull)
		require.ErrorContains(t, err, "has no write access to "+url)
		says(t, folder, 1)
	})
	t.Run("read-only file", func(t *testing.T) {
		chain, folder := onSamba(t, server)
		require.NoError(t, os.Chmod(filepath.Join(folder, lease.ViewName), 0o444))
		require.NoError(t, chain.Publish(t.Context(), viewOf(2)), "the folder's rights count here, as on any Unix")
		says(t, folder, 2)
	})
}
