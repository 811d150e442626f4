package relayproc

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/freeport"
	"github.com/convertfw/floatrelay/internal/standin"
	"github.com/convertfw/floatrelay/internal/testkit/wine"
)

// generous bounds every wait for something that must happen: the machine may be
// busy, and only order and invariants are strict.
const generous = 30 * time.Second

func self(t testing.TB) string {
	exe, err := os.Executable()
	require.NoError(t, err)
	return exe
}

// freePorts finds two neighbouring free ports on 127.0.0.1.
func freePorts(t testing.TB) int {
	for range 20 {
		ports, err := freeport.Pairs(1)
		require.NoError(t, err)
		if PortsFree("127.0.0.1", ports[0]) == nil {
			return ports[0]
		}
	}
	t.Fatal("no two neighbouring ports are free")
	return 0
}

// ownersKnown reports whether the system tells who listens; wine 8 does not.
func ownersKnown(t testing.TB) bool {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	h, held := PortHolder("127.0.0.1", ln.Addr().(*net.TCPAddr).Port)
	require.True(t, held)
	if h.PID == 0 {
		require.True(t, wine.NotShown(t, "who owns a listening port (wine says pid 0)"), "the owner of a port is not known")
	}
	return h.PID != 0
}

// world is one guard under test with its events.
type world struct {
	t     testing.TB
	dir   string
	spec  Spec
	guard *Guard
	// humble takes rights from a daemon in a process of its own; nil leaves them.
	humble func(*exec.Cmd)

	mu     sync.Mutex
	events []Event
	output []string
	news   chan struct{}
}

// newWorld prepares a stand-in relay with the given arguments.
func newWorld(t testing.TB, standinArgs ...string) *world {
	return newWorldIn(t, t.TempDir(), standinArgs...)
}

func newWorldIn(t testing.TB, dir string, standinArgs ...string) *world {
	if _, measured := t.(*testing.B); !measured {
		startWitnesses(t)
	}
	w := &world{t: t, dir: dir, news: make(chan struct{}, 1)}
	port := freePorts(t)
	w.spec = Spec{
		Exe: self(t), Args: append([]string{"standin"}, standinArgs...), Dir: w.dir,
		Env: []string{
			"RELAY_PORT=" + strconv.Itoa(port), "KMSN=K1", "STATION=POS-01", "RELAY_EPOCH=7",
			standin.LogEnv + "=" + w.lifeLog(),
		},
		Addr: "127.0.0.1", Port: port, KMSN: "K1", Station: "POS-01",
		StartTimeout: generous, PingEvery: 50 * time.Millisecond,
		LockPath: filepath.Join(w.dir, "guard.lock"),
		Output: func(s string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.output = append(w.output, s)
		},
	}
	return w
}

func (w *world) lifeLog() string { return filepath.Join(w.dir, "life.log") }

// start starts the guard; the relay may run for life from now.
func (w *world) start(life time.Duration) *world {
	g, err := Start(context.Background(), Command{self(w.t), []string{GuardArg}}, w.spec, 1, clock.Boot()+life, w.note)
	require.NoError(w.t, err)
	w.guard = g
	w.t.Cleanup(func() {
		g.Kill()
		select {
		case <-g.Done():
		case <-time.After(generous):
			w.t.Errorf("guard still not gone; events %v", w.seen())
		}
	})
	return w
}

func (w *world) note(ev Event) {
	w.mu.Lock()
	w.events = append(w.events, ev)
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *world) seen() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

func (w *world) lines() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.output, "\n")
}

// await waits for the first event of type E that ok accepts.
func await[E Event](w *world, ok func(E) bool) E {
	w.t.Helper()
	timeout := time.After(generous)
	for {
		for _, ev := range w.seen() {
			if e, is := ev.(E); is && (ok == nil || ok(e)) {
				return e
			}
		}
		select {
		case <-w.news:
		case <-time.After(20 * time.Millisecond):
		case <-timeout:
			var none E
			w.t.Fatalf("no %T within %v; events %v, output:\n%s", none, generous, w.seen(), w.lines())
		}
	}
}

// awaitDown waits for Down and checks what Down promises.
func (w *world) awaitDown() Down {
	w.t.Helper()
	down := await[Down](w, nil)
	w.requireNothingLeft()
	return down
}

// requireNothingLeft checks that no process of the relay runs, and no port is
// open.
func (w *world) requireNothingLeft() {
	w.t.Helper()
	require.Empty(w.t, relays(w.dir), "processes of the relay after Down")
	for _, port := range w.spec.ports() {
		_, held := PortHolder("127.0.0.1", port)
		require.False(w.t, held, "port %d after Down", port)
	}
	require.NoError(w.t, ProbeLock(w.spec.LockPath))
}

// eventually waits until ok.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(generous); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never happened: " + what)
		}
	}
}

// tryLonger does try with more and more time, beginning with d, until it reports
// that the time was enough for what the test has to do in it: how long a busy
// machine needs is not known beforehand.
func tryLonger(t testing.TB, d time.Duration, try func(time.Duration) bool) {
	t.Helper()
	for ; !try(d); d *= 2 {
		require.Less(t, d, generous, "no time is enough")
		t.Logf("%v were too short", d)
	}
}

// acked waits until the guard has a deadline; false if it killed before.
func (w *world) acked(seq uint64) bool {
	w.t.Helper()
	ok := false
	eventually(w.t, "the guard answers or ends", func() bool {
		ok = slices.Contains(w.seen(), Event(Acked{Seq: seq}))
		_, down := w.last().(Down)
		return ok || down
	})
	return ok
}

// lastAlive is the newest instant at which a relay process wrote that it lives.
func (w *world) lastAlive() time.Duration {
	spans, err := standin.ReadLife(w.lifeLog())
	if err != nil {
		return 0
	}
	var last time.Duration
	for _, s := range spans {
		last = max(last, s.Last)
	}
	return last
}

func (w *world) String() string { return fmt.Sprint(w.seen()) }
