package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// What ProgramData hands down, and what floatrelay makes instead.
func TestHole14_WhoMayChangeStateDir(t *testing.T) {
	for sddl, who := range map[string]string{
		"D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)":                                "",
		"D:P(A;OICI;FA;;;SY)(A;OICI;0x1200a9;;;BU)":                          "", // Users may read
		"D:(A;OICIID;FA;;;SY)(A;OICIID;0x1200a9;;;BU)(A;CIID;DCLCRPCR;;;BU)": "Users",
		"D:P(A;;FA;;;WD)":             "Everyone",
		"D:P(A;;0x1301bf;;;AU)":       "Authenticated Users",
		"D:P(D;;FA;;;WD)(A;;FA;;;SY)": "",
	} {
		sd, err := windows.SecurityDescriptorFromString(sddl)
		require.NoError(t, err, sddl)
		require.Equal(t, who, whoMayChange(sd), sddl)
	}
}

// A folder that is there already is used, and ours afterwards.
func TestHole14_StateDirThatIsThereIsClosed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.Mkdir(dir, 0o777))
	_, err := makeStateDir(dir)
	require.NoError(t, err)
	if text := openToOthers(dir); text != "" {
		t.Log("NOT SHOWN: permissions of a folder that is there: " + text)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "node"), nil, 0o600))
	require.Empty(t, strangersIn(dir))
}
