package relayproc

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestR2_Environment: what a service manager or a PyInstaller program meant for us
// alone does not reach the relay, nor does a secret under an innocent name.
func TestR2_Environment(t *testing.T) {
	for name, tc := range map[string]struct{ in, want []string }{
		"a boot loader's": {
			[]string{"_MEIPASS2=/tmp/_MEI1", "_PYI_ARCHIVE_FILE=/opt/a", "_PYI_APPLICATION_HOME_DIR=/tmp/_MEI1", "_PYI_PARENT_PROCESS_LEVEL=1", "HOME=/h"},
			[]string{"HOME=/h"},
		},
		"a service manager's": {
			[]string{
				"NOTIFY_SOCKET=/run/n", "WATCHDOG_USEC=1", "WATCHDOG_PID=2", "LISTEN_FDS=1", "LISTEN_PID=2",
				"LISTEN_FDNAMES=x", "INVOCATION_ID=1", "JOURNAL_STREAM=8:1", "LANG=C",
			},
			[]string{"LANG=C"},
		},
		"a library path as it was": {
			[]string{"LD_LIBRARY_PATH=/tmp/_MEI1:/opt/lib", "LD_LIBRARY_PATH_ORIG=/opt/lib", "_MEIPASS2=/tmp/_MEI1"},
			[]string{"LD_LIBRARY_PATH=/opt/lib"},
		},
		"a library path of a bundle":    {[]string{"LD_LIBRARY_PATH=/tmp/_MEI1", "_MEIPASS2=/tmp/_MEI1"}, nil},
		"a library path of the site":    {[]string{"LD_LIBRARY_PATH=/opt/lib"}, []string{"LD_LIBRARY_PATH=/opt/lib"}},
		"secrets by their value":        {[]string{"INNOCENT=secret", "URL=smb://u:a-long-password@nas/x", "A=1"}, []string{"A=1"}},
		"a short secret is in any path": {[]string{"PATH=/abc/secret/bin", "N=abc"}, []string{"PATH=/abc/secret/bin", "N=abc"}},
		"a reset that was there before": {[]string{"PYINSTALLER_RESET_ENVIRONMENT=0"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, append(tc.want, freshBundle), CleanEnv(tc.in, "secret", "", "a-long-password", "abc"))
		})
	}
}

func TestCleanEnv(t *testing.T) {
	in := []string{
		"PATH=/bin", "Path=C:\\", "FLOATRELAY_RELAY_TOKEN=x", "floatrelay_kmsn=x", "RELAY_TOKEN=x", "Relay_Token_Old=x",
		"LEASE_SMB_PASSWORD=x", "AWS_SECRET_ACCESS_KEY=x", "FLOATRELAY_STANDIN_LOG=/life", "TEMP=/t", "MY_API_KEY=x",
	}
	require.Equal(t, []string{"PATH=/bin", "Path=C:\\", "FLOATRELAY_STANDIN_LOG=/life", "TEMP=/t", freshBundle}, CleanEnv(in))
	require.Equal(t, []string{"A=1", "b=3"}, mergeEnv([]string{"A=1", "B=2"}, []string{"b=3"}))
}

func TestOrder_RoundTrip(t *testing.T) {
	for _, o := range []order{
		{kind: "until", seq: 7, until: 123456789}, {kind: "until", seq: 7, until: -1}, {kind: "will", will: []byte("a\nb\x00")},
		{kind: "stop", grace: 1500 * time.Millisecond}, {kind: "kill"}, {kind: "ready"}, {kind: "owns", pid: 42},
	} {
		got, err := parseOrder(o.String())
		require.NoError(t, err)
		require.Equal(t, o, got)
	}
	for _, bad := range []string{"", "until", "until 1", "until x 1", "until 1 1 1", "will !!", "stop", "kill now", "dance"} {
		_, err := parseOrder(bad)
		require.Error(t, err, bad)
	}
}

// TestReadLines_TornLastLine: a daemon that dies while it writes leaves half a
// line, which must not be taken for a whole one.
func TestReadLines_TornLastLine(t *testing.T) {
	out := make(chan string, 10)
	readLines(strings.NewReader("until 1 5\nwill QUJD"), out, nil)
	require.Equal(t, "until 1 5", <-out)
	line, ok := <-out
	require.False(t, ok, line)
}

func TestOutbox_NeverBlocks(t *testing.T) {
	r, w := io.Pipe() // nobody reads yet
	b := newOutbox(w)
	for i := range 10 * outboxMax {
		b.put("", fmt.Sprint("line ", i))
		b.put("acked", fmt.Sprint("acked ", i))
	}
	got := make(chan string)
	go func() {
		all, _ := io.ReadAll(r)
		got <- string(all)
	}()
	b.flush(generous)
	w.Close()
	all := <-got
	require.Contains(t, all, fmt.Sprintf("acked %d\n", 10*outboxMax-1), "the newest answer is what counts")
	require.LessOrEqual(t, strings.Count(all, "\n"), 2*outboxMax+2)
	b.put("", "too late")
}

func TestBatchLine(t *testing.T) {
	for _, tc := range []struct {
		exe  string
		args []string
		want string
	}{
		{`C:\STK\relay.bat`, nil, `"cmd" /d /e:on /v:off /s /c ""C:\STK\relay.bat""`},
		{`C:\站 一\relay.bat`, []string{"a b"}, `"cmd" /d /e:on /v:off /s /c ""C:\站 一\relay.bat" "a b""`},
		{`r.bat`, []string{`a&calc`, `x|y`, `^`}, `"cmd" /d /e:on /v:off /s /c ""r.bat" "a&calc" "x|y" "^""`},
		{`r.bat`, []string{`say "hi"`}, `"cmd" /d /e:on /v:off /s /c ""r.bat" "say ""hi""""`},
		{`r.bat`, []string{`C:\dir\`}, `"cmd" /d /e:on /v:off /s /c ""r.bat" "C:\dir\\""`},
		{`r.bat`, []string{`%PATH%`}, `"cmd" /d /e:on /v:off /s /c ""r.bat" "%%cd:~,%PATH%%cd:~,%""`},
		{`r.bat`, []string{""}, `"cmd" /d /e:on /v:off /s /c ""r.bat" """`},
	} {
		got, err := batchLine("cmd", tc.exe, tc.args)
		require.NoError(t, err)
		require.Equal(t, tc.want, got)
	}
	for _, bad := range [][]string{{"a\nb"}, {"a\rb"}, {"a\x00b"}} {
		_, err := batchLine("cmd", "r.bat", bad)
		require.Error(t, err)
	}
	_, err := batchLine("cmd", `C:\100%\r.bat`, nil)
	require.Error(t, err)
	require.True(t, isBatch(`C:\A\RELAY.BAT`))
	require.True(t, isBatch("x.cmd"))
	require.False(t, isBatch("x.exe"))
}

func TestReadable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\r\n":                "plain",
		"中文":                       "中文",
		"\xB3\x5C\xA5\x5C\xBB\x5C": "許功蓋",
		"\x1b[31mred\x00":          "\uFFFD[31mred\uFFFD",
		"\xff\xfe\xfd\xfc":         "\uFFFD",
	} {
		require.Equal(t, want, readable([]byte(in)), "%q", in)
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "raw")
		got := readable(raw)
		require.True(t, utf8.ValidString(got))
		require.NotContains(t, got, "\n")
	})
}

func TestReadOutput_CutsLongLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(1, 100_000), 1, 5).Draw(t, "lengths")
		var in bytes.Buffer
		for _, n := range lengths {
			in.WriteString(strings.Repeat("x", n) + "\n")
		}
		i := 0
		readOutput(&in, func(raw []byte, cut int) {
			require.LessOrEqual(t, len(raw), outputLine)
			require.Equal(t, lengths[i]+1, len(raw)+cut)
			i++
		})
		require.Equal(t, len(lengths), i)
	})
}

// TestReadOutput_ShowsALineThatDoesNotEnd: a prompt that waits, and a program
// that never ends its line, are seen while they live.
func TestReadOutput_ShowsALineThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		var mu sync.Mutex
		var got []string
		seen := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(got)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			readOutput(r, func(raw []byte, cut int) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, fmt.Sprintf("%s+%d", bytes.TrimSpace(raw[:min(9, len(raw))]), cut))
			})
		}()
		say := func(text string, pause time.Duration) {
			_, err := io.WriteString(w, text)
			require.NoError(t, err)
			time.Sleep(pause)
			synctest.Wait()
		}
		say("whole\nport? ", outputSpan/2)
		require.Equal(t, []string{"whole+0"}, seen())
		say("", outputSpan)
		require.Equal(t, []string{"whole+0", "port?+0"}, seen())
		say("9530\n", 0)
		require.Equal(t, "9530+0", seen()[2])
		for range 10 {
			say(strings.Repeat("x", 100_000), outputSpan/4)
		}
		require.GreaterOrEqual(t, len(seen()), 5)
		require.Contains(t, seen()[3], "xxxxxxxxx+")
		require.LessOrEqual(t, len(seen()), 6)
		w.Close()
		<-done
	})
}

func TestLimiter_CountsWhatItDrops(t *testing.T) {
	now := time.Unix(0, 0)
	var got []string
	l := limiter{now: func() time.Time { return now }, put: func(s string) bool { got = append(got, s); return true }}
	for range outputBurst + 30 {
		l.line([]byte("a"), 0)
	}
	require.Len(t, got, outputBurst)
	now = now.Add(outputSpan)
	l.line([]byte("b"), 0)
	require.Equal(t, []string{"(30 lines of the relay's output dropped)", "b"}, got[outputBurst:])
}

func TestPumpOutput_SlowSinkHoldsUpNobody(t *testing.T) {
	hold := make(chan struct{})
	r, w := io.Pipe()
	done := make(chan struct{})
	n := 0
	go func() {
		defer close(done)
		pumpOutput(r, func(string) { <-hold; n++ })
	}()
	for range 5 * outputQueue {
		_, err := io.WriteString(w, "line\n") // would block if the reader stopped
		require.NoError(t, err)
	}
	w.Close()
	close(hold)
	<-done
	require.LessOrEqual(t, n, outputQueue+2)
}

func TestCause_Names(t *testing.T) {
	for c := Stopped; c <= GuardLost; c++ {
		got, ok := causeNamed(c.String())
		require.True(t, ok)
		require.Equal(t, c, got)
	}
	_, ok := causeNamed("tired")
	require.False(t, ok)
}

// TestStrangers_InterpretersRunOtherThingsToo: a second python is no second relay.
func TestStrangers_InterpretersRunOtherThingsToo(t *testing.T) {
	for name, want := range map[string]bool{
		"python": true, "python3.12": true, "Python.EXE": true, "pythonw.exe": true, "java": true, "bash": true, "cmd.exe": true,
		"relay_server.exe": false, "relay": false, "pythonrelay.exe": false, "shrelay": false, "py2exe-relay.exe": false,
	} {
		require.Equal(t, want, interpreter(filepath.Join(t.TempDir(), name)), name)
	}
	require.Empty(t, Strangers(""))
}

// TestStrangers_AFloatrelayOfAnyPath: one that an upgrade has moved away still
// stands above its relay.
func TestStrangers_AFloatrelayOfAnyPath(t *testing.T) {
	dir := t.TempDir()
	require.True(t, sameName(filepath.Join(dir, "old", "floatrelay.exe"), filepath.Join(dir, "FloatRelay")))
	require.False(t, sameName(filepath.Join(dir, "relay"), filepath.Join(dir, "floatrelay")))
	require.False(t, sameName("", ""))
}
