package lease

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The layout of the view is promised to batch files, which cut it at , and :
// and count. The example that counts must count right.
func TestView_LayoutIsWhatTheBatchExampleCounts(t *testing.T) {
	script, err := os.ReadFile("../docs/examples/batch/find_relay.bat")
	require.NoError(t, err)
	m := regexp.MustCompile(`tokens=5-8,11,12,26 delims=(\S+)"`).FindSubmatch(script)
	require.NotNil(t, m, "the example counts other fields")
	r := testRecord(42)
	r.LeaseUntil = ""
	line := string(testCodec(t, "secret").View(r, true, 77).Encode())
	require.Equal(t, 1, strings.Count(line, "\n"))
	tokens := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(string(m[1]), c) })
	require.Equal(t, []string{`"ip"`, `"192.168.1.10"`, `"port"`, "9530"}, tokens[4:8])
	require.Equal(t, []string{`"epoch"`, "7"}, tokens[10:12])
	require.Equal(t, []string{`"ready"`, "true"}, tokens[24:26])
}

// cmd.exe loses its labels in files with bare line feeds, and reads them in the
// console's code page.
func TestExamples_BatchFilesAreASCIIWithCRLF(t *testing.T) {
	for _, name := range []string{"find_relay.bat", "follow_relay.bat"} {
		b, err := os.ReadFile("../docs/examples/batch/" + name)
		require.NoError(t, err)
		require.Equal(t, bytes.Count(b, []byte("\n")), bytes.Count(b, []byte("\r\n")), name)
		require.Equal(t, -1, bytes.IndexFunc(b, func(r rune) bool { return r > 126 }), name)
	}
}

// The guide lists every field of the view, and shows them in their order.
func TestIntegrationGuide_NamesEveryField(t *testing.T) {
	b, err := os.ReadFile("../docs/integration.md")
	require.NoError(t, err)
	guide, at := string(b), 0
	for _, field := range regexp.MustCompile(`"([a-z_]+)":`).FindAllSubmatch(View{}.Encode(), -1) {
		name := string(field[1])
		require.Contains(t, guide, "`"+name+"`")
		i := strings.Index(guide[at:], `"`+name+`":`)
		require.GreaterOrEqual(t, i, 0, "%s is missing in the sample, or out of order", name)
		at += i
	}
}
