package doctor

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/service"
	"github.com/convertfw/floatrelay/lease"
)

// A letter that works here is spoken of, and once; a disk of this PC is not.
func TestShare_DriveLetterThatNoServiceSees(t *testing.T) {
	drives := map[string]string{"W:": `\\nas\pos`, "D:": ""}
	account := func(dir string) error {
		return service.CheckAccount(dir, `.\any`, service.Host{Remote: func(d string) (string, bool) { unc, known := drives[d]; return unc, known }})
	}
	share := opener(lease.NewDir(t.TempDir()))
	good := look(t, shareCheck(figures(`D:\socket`), share, account))
	for _, r := range good {
		require.Equal(t, OK, r.Level, r)
	}
	got := look(t, shareCheck(figures(`W:\socket`), share, account))
	require.Len(t, got, len(good)+1)
	one(t, got[1:2], Warning, `LEASE_DIR=W:\socket is there for this session, but not for a service`, `set LEASE_DIR=\\nas\pos\socket`)
	require.Contains(t, got[1].Do, "smb://")
	require.Empty(t, look(t, func(ctx context.Context, tell Tell) {
		judgeAccount(ctx, `W:\socket`, func(string) error { return errors.New("nothing known") }, tell)
	}))
}
