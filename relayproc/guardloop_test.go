package relayproc

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
)

// TestGuardLoop_AnOrderDoesNotOvertakeTheDeadline: order and timer come
// together, as they do when a host wakes; whichever the loop sees first, what
// was read after the deadline does not move it.
func TestGuardLoop_AnOrderDoesNotOvertakeTheDeadline(t *testing.T) {
	port := freePorts(t)
	for range 200 {
		deadline := clock.Boot() + time.Millisecond
		g := &guard{
			out: newOutbox(io.Discard), lines: make(chan string), events: make(chan treeEvent, treeQueue),
			born: clock.Boot(), spec: wireSpec{KillMargin: time.Second, Addr: "127.0.0.1", Port: port}, haveSpec: true,
			deadline: deadline,
		}
		g.spawn.at, g.spawn.next = clock.Boot(), time.Duration(1<<62) // it ran, and there is no second start
		quit := make(chan struct{})
		go func() {
			for clock.Boot() < deadline { //nolint:revive // waits to the microsecond
			}
			for _, line := range []string{"until 2 4611686018427387904", "kill"} {
				select {
				case g.lines <- line:
				case <-quit:
				}
			}
		}()
		g.run()
		close(quit)
		g.out.flush(time.Second)
		require.Equal(t, Deadline, g.cause)
	}
}

// TestGuard_PortInTheWay: an early end is put down to a port in TIME_WAIT as long
// as a onefile program may take to unpack and find it so, and no longer; never
// after it was ready, and not for ever.
func TestGuard_PortInTheWay(t *testing.T) {
	for name, tc := range map[string]struct {
		cause   Cause
		mayWait bool
		lived   time.Duration
		wanted  time.Duration // since when a start is wanted
		want    bool
	}{
		"at once":                  {Exited, true, 300 * time.Millisecond, time.Second, true},
		"after unpacking":          {Exited, true, 20 * time.Second, 21 * time.Second, true},
		"after running":            {Exited, true, 31 * time.Second, 32 * time.Second, false},
		"the port was free":        {Exited, false, time.Second, time.Second, false},
		"could not be started":     {Failed, true, 0, time.Second, false},
		"the port never gets free": {Exited, true, time.Second, 251 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Hour
			g := &guard{spawn: spawn{at: now - tc.lived, first: now - tc.wanted, mayWait: tc.mayWait}}
			require.Equal(t, tc.want, g.portInTheWay(tc.cause, now))
		})
	}
}

// stubborn is a tree of which each kill misses something, but the tenth.
type stubborn struct {
	kills int
	dead  func()
}

func (s *stubborn) ask() error         { return nil }
func (s *stubborn) owns(int) bool      { return true }
func (s *stubborn) members() []int     { return nil }
func (s *stubborn) hold(time.Duration) {}
func (s *stubborn) kill() {
	if s.kills++; s.kills == 10 {
		s.dead()
	}
}

// TestGuardLoop_EveryKillIsSeenThrough: a kill is repeated until the tree is
// dead, long before the deadline, whether the guard is about to end or not.
func TestGuardLoop_EveryKillIsSeenThrough(t *testing.T) {
	for name, tc := range map[string]struct {
		ev   treeEvent
		goes bool // the guard goes on to the next tree; it is stopped first
		want Cause
	}{
		"the holder is dead":          {treeEvent{kind: treeOrphaned}, false, Exited},
		"a port was in the way":       {treeEvent{kind: treeExited, note: "exit code 1"}, true, Stopped},
		"the relay ended by itself":   {treeEvent{kind: treeExited, note: "exit code 1"}, false, Exited},
		"the relay cannot be started": {treeEvent{kind: treeFailed, note: "no such file"}, false, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			events, lines := make(chan treeEvent, treeQueue), make(chan string, 1)
			s := &stubborn{dead: func() {
				events <- treeEvent{kind: treeDead}
				if tc.goes {
					lines <- "kill"
				}
			}}
			now := clock.Boot()
			g := &guard{
				out: newOutbox(io.Discard), lines: lines, events: events, tree: s,
				born: now, spec: wireSpec{KillMargin: time.Second, Addr: "127.0.0.1", Port: freePorts(t)}, haveSpec: true,
				deadline: now + 20*time.Second,
			}
			g.spawn.at, g.spawn.first, g.spawn.mayWait = now, now, tc.goes
			events <- tc.ev
			g.run()
			g.out.flush(time.Second)
			require.GreaterOrEqual(t, s.kills, 10)
			require.Equal(t, tc.want, g.cause)
		})
	}
}
