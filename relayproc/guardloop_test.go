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
