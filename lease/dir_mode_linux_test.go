package lease

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The shipped unit runs with umask 077. What is made in LEASE_DIR is as open as
// LEASE_DIR is, and no more.
func TestS6_FilesAreAsOpenAsLeaseDir(t *testing.T) {
	for _, tc := range []struct{ base, folder, file os.FileMode }{
		{0o777, 0o777, 0o644}, {0o775, 0o775, 0o644}, {0o770, 0o770, 0o640}, {0o755, 0o755, 0o644}, {0o700, 0o700, 0o600},
		{0o2770, 0o770 | os.ModeSetgid, 0o640},
	} {
		t.Run(tc.base.String(), func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, unix.Chmod(folder, uint32(tc.base)))
			chain := NewChain(NewDir(folder))
			old := unix.Umask(0o077) // of this whole process: no test here runs in parallel
			err := chain.Found(t.Context(), testShare, 1, []byte("genesis"))
			published := chain.Publish(t.Context(), View{KMSN: "4711"})
			unix.Umask(old)
			require.NoError(t, err)
			require.NoError(t, published)
			for name, want := range map[string]os.FileMode{
				chainDir: tc.folder, chainDir + "/" + testShare: tc.folder, chainDir + "/" + testShare + "/" + membersDir: tc.folder,
				RecordName(testShare, 1): tc.file, ViewName: tc.file,
			} {
				st, err := os.Stat(filepath.Join(folder, name))
				require.NoError(t, err)
				require.Equal(t, want, st.Mode()&^os.ModeDir, name)
			}
		})
	}
}

// The group of LEASE_DIR is that of what is made in it, where this account may
// give it.
func TestS6_FilesBelongToTheGroupOfLeaseDir(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give a folder to any group")
	}
	folder := t.TempDir()
	require.NoError(t, os.Chown(folder, -1, 4711))
	require.NoError(t, os.Chmod(folder, 0o770))
	require.NoError(t, NewDir(folder).Create(t.Context(), "x.lock", []byte("x")))
	var st unix.Stat_t
	require.NoError(t, unix.Stat(filepath.Join(folder, "x.lock"), &st))
	require.EqualValues(t, 4711, st.Gid)
	require.NotZero(t, st.Mode&0o040, "the group may read")
}
