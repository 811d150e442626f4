package lease

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// One row per Windows code: what a read and what a change must report.
func TestWinVerdict(t *testing.T) {
	for name, tc := range map[string]struct {
		code         uint32
		read, change error
		retried      bool
	}{
		"FILE_NOT_FOUND":        {2, ErrNotExist, ErrNotExist, false},
		"PATH_NOT_FOUND":        {3, ErrNotExist, ErrNotExist, false},
		"ACCESS_DENIED":         {5, ErrDenied, ErrDenied, true},
		"SHARING_VIOLATION":     {32, ErrUnavailable, ErrUnavailable, true},
		"LOCK_VIOLATION":        {33, ErrUnavailable, ErrUnavailable, true},
		"DELETE_PENDING":        {303, ErrUnavailable, ErrUnavailable, true},
		"FILE_EXISTS":           {80, ErrExists, ErrExists, false},
		"ALREADY_EXISTS":        {183, ErrExists, ErrExists, false},
		"DIR_NOT_EMPTY":         {145, ErrExists, ErrExists, false},
		"WRITE_PROTECT":         {19, ErrDenied, ErrDenied, false},
		"LOGON_FAILURE":         {1326, ErrDenied, ErrDenied, false},
		"DISK_FULL":             {112, ErrFull, ErrFull, false},
		"INVALID_DRIVE":         {15, ErrUnavailable, ErrUnavailable, false},
		"BAD_NET_NAME":          {67, ErrUnavailable, ErrUnavailable, false},
		"BAD_NETPATH":           {53, ErrUnavailable, ErrUnknown, false},
		"REM_NOT_LIST":          {51, ErrUnavailable, ErrUnknown, false},
		"DEV_NOT_EXIST":         {55, ErrUnavailable, ErrUnknown, false},
		"UNEXP_NET_ERR":         {59, ErrUnavailable, ErrUnknown, false},
		"NETNAME_DELETED":       {64, ErrUnavailable, ErrUnknown, false},
		"SEM_TIMEOUT":           {121, ErrUnavailable, ErrUnknown, false},
		"OPERATION_ABORTED":     {995, ErrUnavailable, ErrUnknown, false},
		"IO_DEVICE":             {1117, ErrUnavailable, ErrUnknown, false},
		"NETWORK_UNREACHABLE":   {1231, ErrUnavailable, ErrUnknown, false},
		"CONNECTION_ABORTED":    {1236, ErrUnavailable, ErrUnknown, false},
		"a code nobody thought": {9999, ErrUnavailable, ErrUnknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := winVerdict(tc.code)
			require.Equal(t, tc.read, v.sentinel(false))
			require.Equal(t, tc.change, v.sentinel(true))
			require.Equal(t, tc.retried, v == vBusy || v == vMaybe)
		})
	}
}

// No code of either table may turn a change that may have happened into
// "not there" or success; and an unknown code is never a definite answer.
func TestVerdict_UnknownCodesAreNeverDefinite(t *testing.T) {
	for code := range uint32(20_000) {
		if winVerdict(code) == vNotExist {
			require.Contains(t, []uint32{2, 3}, code)
		}
	}
	require.Equal(t, ErrUnknown, winVerdict(0).sentinel(true))
}

func TestMissingHint_NamesDriveLetters(t *testing.T) {
	require.Contains(t, missingHint(`W:\socket`), `use \\server\share`)
	require.Contains(t, missingHint("/mnt/socket"), "not mounted")
}

func TestS7_PathsBeyondMaxPathGetTheLongForm(t *testing.T) {
	long := strings.Repeat("x", 250)
	for path, want := range map[string]string{
		`W:\socket`:         `W:\socket`,
		`W:\` + long:        `\\?\W:\` + long,
		`\\nas\pos\` + long: `\\?\UNC\nas\pos\` + long,
		`\\?\W:\` + long:    `\\?\W:\` + long,
	} {
		require.Equal(t, want, longPath(path))
	}
}
