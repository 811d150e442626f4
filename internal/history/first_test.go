package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
)

// The history that the first release kept is read to the last field, and written
// as it was.
func TestOpen_OfTheFirstRelease(t *testing.T) {
	text, err := os.ReadFile("testdata/first.ndjson")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), text, 0o600))
	got, err := Read(dir)
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, localapi.Past{
		Event: localapi.Event{
			Time: day, Kind: "role", Text: "POS-02 has the lease, epoch 8; POS-01 had it (fence), after 92 min",
			Station: "POS-02", Role: "leader", Epoch: 8, Rev: 1310,
		},
		Reason: "fence", LastedMS: (92 * time.Minute).Milliseconds(),
	}, got[0])
	require.True(t, got[1].Warn)
	require.Equal(t, "許功蓋", got[1].Station)
	require.Equal(t, string(text), string(encode(got)))
}

// What a newer version wrote stays in the file as it is, also when the file is
// shortened; only age takes it out.
func TestLog_KeepsLinesOfANewerVersion(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	const newer = `{"time":"2027-01-15T12:00:00Z","kind":"vote","text":"new","votes":{"a":1}}` + "\n" + `{"v":2,"at":17}` + "\n"
	require.NoError(t, os.WriteFile(path, encode(pasts(0, 2*Limit-4)), 0o600))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fmt.Fprint(f, newer, "torn {\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())

	l := open(t, dir)
	l.Add(past(9))
	require.NoError(t, l.Flush())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, Limit, strings.Count(string(b), "\n"), "it was shortened")
	require.True(t, strings.HasSuffix(string(b), newer+string(encode(pasts(9, 10)))), "as they were, without the torn line")
	require.Equal(t, Limit, l.lines)
	require.Equal(t, "new", l.Events()[Limit-2].Text)
}
