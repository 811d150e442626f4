//go:build e2e

package lease_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/sharetest"
	"github.com/convertfw/floatrelay/lease"
)

func mount(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("mount", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// onSmallDisk is a plain folder on a disk of its own of 256 kB, with a view.
func onSmallDisk(t *testing.T) (chain *lease.Chain, folder string) {
	t.Helper()
	folder = t.TempDir()
	mount(t, "-t", "tmpfs", "-o", "size=256k,mode=0777", "tmpfs", folder)
	t.Cleanup(func() { _ = exec.Command("umount", "-l", folder).Run() })
	chain = lease.NewChain(lease.NewDir(folder))
	require.NoError(t, chain.Publish(t.Context(), diskView(1)))
	return chain, folder
}

func diskView(epoch uint64) lease.View {
	return lease.View{KMSN: "4711", Station: "A", IP: "192.168.1.10", Port: 9530, Epoch: epoch, LeaseUntil: "20260115123000", V: lease.Version}
}

// diskSays demands the whole view, and these files beside it and no others.
func diskSays(t *testing.T, folder string, epoch uint64, beside ...string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, lease.ViewName))
	require.NoError(t, err)
	require.Equal(t, string(diskView(epoch).Encode()), string(b))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.ElementsMatch(t, append(beside, lease.ViewName), names, "a temporary file is left behind")
}

// A disk without space: a clear error, the old content, and success once there
// is room.
func TestView_PublicationOnAFullDisk(t *testing.T) {
	chain, folder := onSmallDisk(t)
	film := filepath.Join(folder, "film")
	sharetest.Fill(t, film)
	err := chain.Publish(t.Context(), diskView(2))
	require.ErrorIs(t, err, lease.ErrFull)
	require.NotErrorIs(t, err, lease.ErrUnknown)
	require.ErrorContains(t, err, "share full: no space left in "+folder+": free some")
	diskSays(t, folder, 1, "film")
	require.NoError(t, os.Remove(film))
	require.NoError(t, chain.Publish(t.Context(), diskView(2)))
	diskSays(t, folder, 2)
}

// A disk mounted read-only: the same.
func TestView_PublicationOnAReadOnlyDisk(t *testing.T) {
	chain, folder := onSmallDisk(t)
	mount(t, "-o", "remount,ro", folder)
	err := chain.Publish(t.Context(), diskView(2))
	require.ErrorIs(t, err, lease.ErrDenied)
	require.NotErrorIs(t, err, lease.ErrFull)
	require.ErrorContains(t, err, "no write access to "+folder)
	diskSays(t, folder, 1)
	mount(t, "-o", "remount,rw", folder)
	require.NoError(t, chain.Publish(t.Context(), diskView(2)))
	diskSays(t, folder, 2)
}
