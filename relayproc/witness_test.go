package relayproc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/procs"
)

// A machine with other things to do lets a process wake late, and gives it a part
// of a core only, the guard like any other. The witnesses are processes started
// like a guard that do nothing but sleep and, now and then, work: how late they
// woke and how slowly they worked in the moments in question is what a kill may
// take beyond KILL_MARGIN, and nothing else is.
const (
	witnesses    = 2                    // a machine is not equally busy on every core
	witnessNap   = 4 * time.Millisecond // what a witness sleeps at a time
	witnessEvery = 500 * time.Millisecond
	witnessWork  = 20 * time.Millisecond // of a core; longer than a turn on a busy one
	// wakesPerKill is how many processes wake one after the other between a
	// deadline and the last sign of life: the guard, and who kills for it.
	wakesPerKill = 2
)

// beWitness works, sleeps, and says every witnessEvery from when to when that
// was, in boot time, how much too long the longest of its naps took, and how many
// times as long as on an idle machine its work. It ends with its stdin.
func beWitness() {
	procs.OneThread()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		var s span
		s.from = clock.Boot()
		s.slow = workSlowly()
		for s.to = clock.Boot(); s.to-s.from < witnessEvery; {
			time.Sleep(witnessNap)
			now := clock.Boot()
			s.late = max(s.late, now-s.to-witnessNap)
			s.to = now
		}
		fmt.Println(int64(s.from), int64(s.to), int64(s.late), s.slow)
	}
}

// workSlowly returns how many times as long as its work a process took for it.
func workSlowly() float64 {
	from, spent := clock.Boot(), cpuTime()
	worked := time.Duration(0)
	for worked < witnessWork {
		worked = cpuTime() - spent
	}
	return max(1, float64(clock.Boot()-from)/float64(worked))
}

// span is what one witness saw in a short time.
type span struct {
	from, to, late time.Duration
	slow           float64
}

// witness is one such process, seen from the test.
type witness struct {
	cmd   *exec.Cmd
	in    io.Closer
	ended chan struct{}

	mu   sync.Mutex
	saw  []span
	down bool // it says nothing any more
}

var watching struct {
	once sync.Once
	all  []*witness
	err  error
}

// startWitnesses starts them once for all tests of a run.
func startWitnesses(t testing.TB) {
	t.Helper()
	watching.once.Do(func() {
		for range witnesses {
			w, err := newWitness()
			if err != nil {
				watching.err = err
				return
			}
			watching.all = append(watching.all, w)
		}
	})
	require.NoError(t, watching.err)
}

func newWitness() (*witness, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w := &witness{cmd: exec.Command(exe, "witness"), ended: make(chan struct{})}
	w.cmd.SysProcAttr = guardAttr()
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	go w.listen(out)
	return w, nil
}

func (w *witness) listen(out io.Reader) {
	defer close(w.ended)
	for sc := bufio.NewScanner(out); sc.Scan(); {
		var s span
		_, _ = fmt.Sscan(sc.Text(), (*int64)(&s.from), (*int64)(&s.to), (*int64)(&s.late), &s.slow)
		w.mu.Lock()
		w.saw = append(w.saw, s)
		w.mu.Unlock()
	}
	w.mu.Lock()
	w.down = true
	w.mu.Unlock()
	_ = w.cmd.Wait()
}

// between returns the worst of the witness's spans that touch a time; false until
// it has said everything about it.
func (w *witness) between(from, to time.Duration) (worst span, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	worst.slow = 1
	for i := len(w.saw) - 1; i >= 0 && w.saw[i].to >= from; i-- {
		if s := w.saw[i]; s.from <= to {
			worst.late, worst.slow = max(worst.late, s.late), max(worst.slow, s.slow)
		}
		ok = ok || w.saw[i].to >= to
	}
	return worst, ok || w.down
}

// machine is what the witnesses saw between two boot times and just around them:
// how late a process woke, and how many times as long it took for its work.
func machine(t testing.TB, from, to time.Duration) (late time.Duration, slow float64) {
	t.Helper()
	slow = 1
	for _, w := range watching.all {
		eventually(t, "a witness tells of that time", func() bool {
			s, ok := w.between(from-witnessEvery/2, to+witnessEvery/2)
			late, slow = max(late, s.late), max(slow, s.slow)
			return ok
		})
	}
	return late, slow
}

// requireDeadBy demands that no relay of w gave a sign of life later than
// KILL_MARGIN after due, as the machine was in those moments. It returns how long
// after due the last one was; negative if before.
func (w *world) requireDeadBy(due time.Duration) time.Duration {
	w.t.Helper()
	last := w.lastAlive()
	late, margin := last-due, w.spec.withDefaults().KillMargin
	if late <= margin {
		return late
	}
	woke, slow := machine(w.t, due, last)
	text := fmt.Sprintf("a relay lived %v past its end, while other processes woke %v late and worked %.1f times as long", late, woke, slow)
	w.t.Log(text)
	require.LessOrEqual(w.t, late, time.Duration(slow*float64(margin))+wakesPerKill*woke, "more than KILL_MARGIN: %s", text)
	return late
}

// requireWithin demands that what began at one boot time and had ended by another
// took no longer than bound, as the machine was meanwhile.
func requireWithin(t testing.TB, bound, from, to time.Duration) {
	t.Helper()
	if to-from <= bound {
		return
	}
	woke, slow := machine(t, from, to)
	require.LessOrEqual(t, to-from, time.Duration(slow*float64(bound))+wakesPerKill*woke,
		"took %v, not %v; other processes woke %v late and worked %.1f times as long", to-from, bound, woke, slow)
}

// witnessed ends the witnesses with the tests.
type witnessed struct{ m *testing.M }

func (x witnessed) Run() int {
	code := x.m.Run()
	for _, w := range watching.all {
		_ = w.in.Close()
		<-w.ended
	}
	for end := time.Now().Add(generous); code == 0 && goleak.Find() != nil && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // goleak alone waits for half a second
	}
	return code
}

// TestWitness_SeesAMachineThatStandsStill: what a witness says is what was, and
// it is quick to say it.
func TestWitness_SeesAMachineThatStandsStill(t *testing.T) {
	w := &witness{saw: []span{{0, 50, 1, 1}, {50, 300, 200, 4.5}, {300, 350, 2, 1}, {350, 400, 3, 1.5}}}
	for _, tc := range []struct {
		from, to, late time.Duration
		slow           float64
		ok             bool
	}{
		{10, 20, 1, 1, true},
		{10, 60, 200, 4.5, true},
		{310, 340, 2, 1, true},
		{310, 390, 3, 1.5, true},
		{310, 410, 3, 1.5, false},
		{410, 420, 0, 1, false},
	} {
		worst, ok := w.between(tc.from, tc.to)
		require.Equal(t, tc.ok, ok, tc)
		require.Equal(t, span{late: tc.late, slow: tc.slow}, worst, tc)
	}
	startWitnesses(t)
	from := clock.Boot()
	require.GreaterOrEqual(t, workSlowly(), 1.0)
	late, slow := machine(t, from, clock.Boot())
	require.Positive(t, late, "no nap takes exactly its time")
	require.GreaterOrEqual(t, slow, 1.0)
}
