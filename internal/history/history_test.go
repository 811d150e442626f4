package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
)

var day = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func past(n int) localapi.Past {
	return localapi.Past{
		Event:  localapi.Event{Time: day.Add(time.Duration(n) * time.Second), Kind: "note", Text: fmt.Sprintf("event %d of 功 & co", n)},
		Reason: "fence", LastedMS: int64(n),
	}
}

func pasts(from, to int) (out []localapi.Past) {
	for n := from; n < to; n++ {
		out = append(out, past(n))
	}
	return out
}

func open(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(dir)
	require.NoError(t, err)
	return l
}

func TestLog_SurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	for n := range 3 {
		l.Add(past(n))
		require.NoError(t, l.Flush())
	}
	require.Equal(t, pasts(0, 3), l.Events())
	l = open(t, dir)
	require.Equal(t, pasts(0, 3), l.Events())
	l.Add(past(3))
	require.NoError(t, l.Flush())
	got, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, pasts(0, 4), got)
}

func TestLog_IsBounded(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	const all = 5*Limit + 7
	longest := int64(0)
	for n := range all {
		l.Add(past(n))
		if n%100 == 0 {
			require.NoError(t, l.Flush())
			st, err := os.Stat(l.path)
			require.NoError(t, err)
			longest = max(longest, st.Size())
		}
	}
	require.NoError(t, l.Flush())
	require.Equal(t, pasts(all-Limit, all), l.Events())
	require.Less(t, longest, int64(2*Limit*len(encode(pasts(all, all+1)))), "the file stays bounded")
	l = open(t, dir)
	require.Equal(t, pasts(all-Limit, all), l.Events())
	require.Less(t, l.lines, 2*Limit)
}

// What a power cut or an editor can leave in the file costs the lines it
// damaged and no other.
func TestOpen_SkipsWhatIsNoEvent(t *testing.T) {
	line := string(encode(pasts(1, 2)))
	for name, text := range map[string]string{
		"torn last line": string(encode(pasts(0, 1))) + line[:len(line)/2],
		"NUL tail":       string(encode(pasts(0, 1))) + "\x00\x00\x00\x00",
		"NUL only":       "\x00\x00\x00\x00",
		"empty":          "",
		"something else": "hello\n{}\n[1]\n",
		"no newline":     string(encode(pasts(0, 1))[:len(encode(pasts(0, 1)))-1]),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600))
			l := open(t, dir)
			before := l.Events()
			l.Add(past(7))
			require.NoError(t, l.Flush())
			require.Equal(t, append(before, past(7)), open(t, dir).Events(), "the next event is not swallowed")
		})
	}
}

func TestLog_KeepsWhatCouldNotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	l := open(t, dir)
	l.Add(past(0))
	require.ErrorContains(t, l.Flush(), "write the history")
	require.NoError(t, os.Mkdir(dir, 0o700))
	l.Add(past(1))
	require.NoError(t, l.Flush())
	require.Equal(t, pasts(0, 2), open(t, dir).Events())
}

func TestOpen_RefusesAHugeFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, maxFile+1))
	l, err := Open(dir)
	require.ErrorContains(t, err, "remove it")
	l.Add(past(0))
	require.Equal(t, pasts(0, 1), l.Events(), "usable all the same")
}

func TestLog_Run_WritesTheRest(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.Add(past(0))
	l.Run(ctx, func(err error) { require.NoError(t, err) })
	require.Equal(t, pasts(0, 1), open(t, dir).Events())
}
