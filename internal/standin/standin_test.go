package standin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/convertfw/floatrelay/internal/freeport"
	"github.com/convertfw/floatrelay/internal/procs"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "standin" {
		os.Exit(Main(os.Args[2:], os.Getenv))
	}
	goleak.VerifyTestMain(m)
}

const generous = 20 * time.Second

// serve runs a stand-in in this process and returns its address.
func serve(t *testing.T, cfg Config) string {
	t.Helper()
	cfg.Addr, cfg.Port = "127.0.0.1", freePorts(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, cfg) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	address := net.JoinHostPort(cfg.Addr, strconv.Itoa(cfg.Port))
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, generous, 5*time.Millisecond)
	return address
}

func freePorts(t *testing.T) int {
	ports, err := freeport.Pairs(1)
	require.NoError(t, err)
	return ports[0]
}

func dialTest(t *testing.T, address, kmsn string) *Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	c, err := Dial(ctx, address, kmsn, "POS-01")
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(generous))
	return c
}

func TestServe_HelloSaysWhatItIs(t *testing.T) {
	address := serve(t, Config{Station: "POS-07", Epoch: 42})
	c := dialTest(t, address, "K1")
	require.Equal(t, Software, c.Hello.Software)
	require.Equal(t, "POS-07", c.Hello.Station)
	require.EqualValues(t, 42, c.Hello.Epoch)
	h, err := Ping(context.Background(), address, "K1", "X")
	require.NoError(t, err)
	require.EqualValues(t, 42, h.Epoch)
}

func TestServe_ForwardsWithinTheSite(t *testing.T) {
	address := serve(t, Config{})
	a, b, other := dialTest(t, address, "K1"), dialTest(t, address, "K1"), dialTest(t, address, "K2")
	require.NoError(t, WriteFrame(a, []byte(`{"n":1}`)))
	got, err := ReadFrame(b)
	require.NoError(t, err)
	require.JSONEq(t, `{"n":1}`, string(got))
	require.NoError(t, WriteFrame(b, []byte(`{"n":2}`)))
	got, err = ReadFrame(a) // and not its own frame first
	require.NoError(t, err)
	require.JSONEq(t, `{"n":2}`, string(got))
	other.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	_, err = ReadFrame(other)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "a frame crossed to another site")
}

func TestServe_RefusesAnotherSite(t *testing.T) {
	address := serve(t, Config{KMSN: "K1"})
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	_, err := Dial(ctx, address, "K2", "POS-01")
	require.ErrorContains(t, err, "greet relay")
}

func TestServe_MuteAndDeafDoNotAnswer(t *testing.T) {
	for name, cfg := range map[string]Config{"mute": {Mute: true}, "deaf": {Deaf: true}} {
		t.Run(name, func(t *testing.T) {
			address := serve(t, cfg)
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			_, err := Dial(ctx, address, "K1", "POS-01")
			require.Error(t, err)
		})
	}
}

func TestServe_PortTaken(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	err = Serve(context.Background(), Config{Addr: "127.0.0.1", Port: ln.Addr().(*net.TCPAddr).Port})
	require.ErrorContains(t, err, "listen on port")
}

func TestFrame_Limits(t *testing.T) {
	require.Error(t, WriteFrame(io.Discard, make([]byte, MaxFrame+1)))
	_, err := ReadFrame(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff}))
	require.ErrorContains(t, err, "are more than")
	_, err = ReadFrame(bytes.NewReader([]byte{0, 0, 0, 9, 'x'}))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestClient_FollowsTheRelay(t *testing.T) {
	first, second := serve(t, Config{Epoch: 1}), serve(t, Config{Epoch: 2})
	var mu sync.Mutex
	where := ""
	epochs := make(chan uint64, 10)
	frames := make(chan string, 10)
	c := &Client{
		KMSN: "K1", Station: "POS-01", Retry: 5 * time.Millisecond,
		Find: func(context.Context) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			if where == "" {
				return "", errors.New("no leader")
			}
			return where, nil
		},
		OnConnect: func(h Hello) { epochs <- h.Epoch },
		OnFrame:   func(b []byte) { frames <- string(b) },
		OnLost:    func(error) {},
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	require.ErrorIs(t, c.Send([]byte(`{}`)), ErrNotConnected)
	moveTo := func(address string) {
		mu.Lock()
		where = address
		mu.Unlock()
	}
	moveTo(first)
	require.EqualValues(t, 1, <-epochs)
	peer := dialTest(t, first, "K1")
	require.NoError(t, c.Send([]byte(`{"a":1}`)))
	got, err := ReadFrame(peer)
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1}`, string(got))
	require.NoError(t, WriteFrame(peer, []byte(`{"b":2}`)))
	require.JSONEq(t, `{"b":2}`, <-frames)

	moveTo(second)
	c.mu.Lock()
	c.conn.Close()
	c.mu.Unlock()
	require.EqualValues(t, 2, <-epochs)
	cancel()
	<-done
}

func TestLife_SpansAndOverlap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "life.log")
	for _, e := range []uint64{1, 2} {
		l, err := openLife(Config{LifeLog: path, Epoch: e, Station: "POS 01"})
		require.NoError(t, err)
		l.line("listen")
		time.Sleep(3 * lifeEvery)
		l.close()
	}
	spans, err := ReadLife(path)
	require.NoError(t, err)
	require.Len(t, spans, 2)
	require.Equal(t, "POS 01", spans[0].Station)
	require.EqualValues(t, 1, spans[0].Epoch)
	require.Greater(t, spans[0].Last-spans[0].First, lifeEvery)
	require.GreaterOrEqual(t, spans[0].Listening, spans[0].First)
	require.Zero(t, Overlap(spans))
	spans[1].First -= time.Hour
	require.Equal(t, spans[0].Last-spans[0].First, Overlap(spans), "the checker must be able to fail")
}

// TestR6_EveryTreeIsASpan: processes of one tree are one relay, a second tree of
// the same station and epoch is another.
func TestR6_EveryTreeIsASpan(t *testing.T) {
	for _, tc := range []struct {
		name, args string
		spans      int
	}{
		{"one process", "", 1},
		{"a boot loader and its child", "-shape fork", 1},
		{"a grandchild", "-shape double", 1},
		{"a second tree", "-twin", 2},
		{"a second tree beside a boot loader", "-shape fork -twin", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "life.log")
			cmd, err := self(append(strings.Fields(tc.args), "-exit-after", "300ms")...)
			require.NoError(t, err)
			cmd.Env = append(os.Environ(), LogEnv+"="+path, "RELAY_EPOCH=7", "STATION=POS-01", "RELAY_PORT="+strconv.Itoa(freePorts(t)))
			require.NoError(t, cmd.Start())
			var spans []Span
			require.Eventually(t, func() bool {
				spans, _ = ReadLife(path)
				return len(spans) == tc.spans && slices.ContainsFunc(spans, func(s Span) bool { return s.Listening > 0 })
			}, generous, lifeEvery)
			require.Eventually(t, func() bool { spans, _ = ReadLife(path); return (Overlap(spans) > 0) == (tc.spans > 1) }, generous, lifeEvery)
			procs.Kill(cmd.Process.Pid)
			_ = cmd.Wait()
			for _, s := range spans {
				require.Equal(t, "POS-01", s.Station)
				require.EqualValues(t, 7, s.Epoch)
				for _, pid := range s.PIDs {
					procs.Kill(pid)
				}
			}
			require.Len(t, spans, tc.spans)
		})
	}
}

// TestParseLife_ALogOfRelease010 has no trees in it.
func TestParseLife_ALogOfRelease010(t *testing.T) {
	l, ok := ParseLife("alive 12 34 5 POS 01")
	require.True(t, ok)
	require.Equal(t, Line{What: "alive", PID: 12, At: 34, Epoch: 5, Station: "POS 01"}, l)
	l, ok = ParseLife("listen 12 34 5 @TREE POS 01")
	require.True(t, ok)
	require.Equal(t, Line{What: "listen", PID: 12, At: 34, Epoch: 5, Tree: "TREE", Station: "POS 01"}, l)
	for _, torn := range []string{"", "alive", "alive 12 34", "alive 12 34 5", "alive x 34 5 POS"} {
		_, ok := ParseLife(torn)
		require.False(t, ok, torn)
	}
}

func TestParse_RefusesNonsense(t *testing.T) {
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	for name, tc := range map[string]struct {
		args []string
		env  map[string]string
	}{
		"no port":   {nil, nil},
		"last port": {nil, map[string]string{"RELAY_PORT": "65535"}},
		"epoch":     {nil, map[string]string{"RELAY_PORT": "9530", "RELAY_EPOCH": "seven"}},
		"shape":     {[]string{"-shape", "round"}, map[string]string{"RELAY_PORT": "9530"}},
		"flag":      {[]string{"-no-such"}, map[string]string{"RELAY_PORT": "9530"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(tc.args, env(tc.env), io.Discard)
			require.Error(t, err)
		})
	}
	require.Equal(t, 2, Main([]string{"-shape", "round"}, env(map[string]string{"RELAY_PORT": "9530"})))
}
