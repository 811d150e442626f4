package lease

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The same with a drive letter that really is not there.
func TestCaseE01_ADriveThatIsNotThere(t *testing.T) {
	for _, letter := range "QVXY" {
		if _, err := os.Stat(string(letter) + `:\`); err == nil {
			continue
		}
		requireDriveMissing(t, NewDir(string(letter)+`:\socket`))
		return
	}
	require.Fail(t, "all of these drives are there")
}
