package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/lease"
)

// A folder that can be read and written, and a chain in it that cannot.
func TestS6_DoctorNamesADeniedChain(t *testing.T) {
	dir := t.TempDir()
	share := faulty.New(lease.NewDir(dir), faulty.When(faulty.Fail(lease.ErrDenied), faulty.Kinds(faulty.List), faulty.Names("relay_leader.d")))
	one(t, look(t, chainCheck(figures(dir), opener(share))), Failure, "access denied", "relay_leader.d")
}

// A file where the chain belongs; a link is one of its siblings.
func TestHole11_DoctorNamesWhatIsNoFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "relay_leader.d"), nil, 0o666))
	one(t, look(t, chainCheck(figures(dir), opener(lease.NewDir(dir)))), Failure, "relay_leader.d is a file where a folder belongs", "remove it")
}
