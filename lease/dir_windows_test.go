package lease

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// Windows tells links and junctions by an attribute, of whatever else it is.
func TestHole11_WindowsRefusesReparsePoints(t *testing.T) {
	const link, folder = windows.FILE_ATTRIBUTE_REPARSE_POINT, windows.FILE_ATTRIBUTE_DIRECTORY
	for attrs, want := range map[uint32][2]bool{ // usable as a file, as a folder
		windows.FILE_ATTRIBUTE_NORMAL:            {true, false},
		windows.FILE_ATTRIBUTE_ARCHIVE:           {true, false},
		folder:                                   {false, true},
		link:                                     {false, false},
		link | windows.FILE_ATTRIBUTE_ARCHIVE:    {false, false},
		link | folder:                            {false, false},
		folder | windows.FILE_ATTRIBUTE_READONLY: {false, true},
	} {
		require.Equal(t, want[0], oddAttributes("x", attrs, false) == nil, "%x as a file", attrs)
		require.Equal(t, want[1], oddAttributes("x", attrs, true) == nil, "%x as a folder", attrs)
	}
}

// A folder whose path is longer than MAX_PATH, as deep shares have them.
func TestS7_LongPathsWork(t *testing.T) {
	base := t.TempDir()
	for range 6 {
		base += `\` + strings.Repeat("x", 50)
		require.NoError(t, windows.Mkdir(longPath(base), 0o777))
	}
	require.Greater(t, len(base), 300)
	d := NewDir(base)
	chain := NewChain(d)
	require.NoError(t, chain.Found(t.Context(), testShare, 1, []byte("genesis")))
	require.NoError(t, chain.WriteMember(t.Context(), testShare, Member{Node: testShare, Addrs: []string{"10.0.0.1"}}))
	require.NoError(t, chain.Create(t.Context(), testShare, 2, []byte("second")))
	require.NoError(t, chain.Publish(t.Context(), View{KMSN: "4711"}))
	require.NoError(t, chain.Delete(t.Context(), testShare, []uint64{1}))
	l, err := chain.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []uint64{2}, l.Revs)
	b, err := chain.Read(t.Context(), testShare, 2)
	require.NoError(t, err)
	require.Equal(t, "second", string(b))
	free, _, err := d.(Inspector).Space(t.Context())
	require.NoError(t, err)
	require.NotZero(t, free)
}
