package relayproc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
)

// testDaemon is a daemon in a process of its own: it starts a guard for the
// Spec given as JSON, keeps the deadline daemonLife ahead and prints what
// happens. Until the relay is ready, on a machine however busy, the deadline lies
// further ahead; "ready" is said once the near one is in force. args: the spec,
// the will.
func testDaemon(args []string) int {
	var spec Spec
	if err := json.Unmarshal([]byte(args[0]), &spec); err != nil {
		return 2
	}
	if len(args) > 2 {
		spec.plain = args[2] == plainMode
	}
	exe, _ := os.Executable()
	var mu sync.Mutex
	say := func(format string, v ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf(format+"\n", v...)
	}
	down := make(chan struct{})
	var pid, near atomic.Int64 // of the relay, once ready; number of the first deadline after that
	said := false
	g, err := Start(context.Background(), Command{exe, []string{GuardArg}}, spec, 1, clock.Boot()+generous, func(ev Event) {
		switch e := ev.(type) {
		case Started:
			say("started %d", e.PID)
		case Ready:
			pid.Store(int64(e.PID))
		case Acked:
			if seq := near.Load(); !said && seq != 0 && e.Seq >= uint64(seq) {
				said = true
				say("ready %d", pid.Load())
			}
		case Down:
			say("down %s %s", e.Cause, e.Note)
			close(down)
		}
	})
	if err != nil {
		return 1
	}
	g.Will([]byte(args[1]))
	say("guard %d", g.PID())
	for seq := uint64(2); ; seq++ {
		until := clock.Boot() + generous
		if pid.Load() != 0 {
			until = clock.Boot() + daemonLife
			near.CompareAndSwap(0, int64(seq))
		}
		say("until %d", int64(until)) // first: what is in force was said
		g.Until(seq, until)
		select {
		case <-down:
			<-g.Done()
			return 0
		case <-time.After(50 * time.Millisecond):
		}
	}
}

const plainMode = "plain"

// daemonProc is a running test daemon.
type daemonProc struct {
	cmd *exec.Cmd

	mu    sync.Mutex
	said  map[string]string // newest line by first word
	until time.Duration     // newest deadline it claims to set
	gone  time.Duration     // boot time it was killed by kill; zero while not
	ended chan struct{}
}

// startDaemon starts a daemon process for w's relay.
func (w *world) startDaemon(will string) *daemonProc {
	spec := w.spec
	spec.Output = nil
	body, err := json.Marshal(jsonSpec(spec))
	require.NoError(w.t, err)
	mode := ""
	if w.spec.plain {
		mode = plainMode
	}
	d := &daemonProc{said: map[string]string{}, ended: make(chan struct{})}
	d.cmd = exec.Command(self(w.t), "daemon", string(body), will, mode)
	d.cmd.Env = append(os.Environ(), willEnv+"="+w.dir+"/will")
	if w.humble != nil {
		w.humble(d.cmd)
	}
	out, err := d.cmd.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, d.cmd.Start())
	go func() {
		defer close(d.ended)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			d.hear(sc.Text())
		}
		d.cmd.Wait()
	}()
	w.t.Cleanup(func() {
		d.cmd.Process.Kill()
		<-d.ended
	})
	return d
}

func (d *daemonProc) hear(line string) {
	word, rest, _ := strings.Cut(line, " ")
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said[word] = rest
	if word == "until" {
		var ns int64
		fmt.Sscan(rest, &ns)
		d.until = time.Duration(ns)
	}
}

func (d *daemonProc) heard(word string) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	rest, ok := d.said[word]
	return rest, ok
}

// await waits until the daemon said word and returns the pid after it.
func (d *daemonProc) await(t testing.TB, word string) int {
	t.Helper()
	pid := 0
	eventually(t, "daemon says "+word, func() bool {
		rest, ok := d.heard(word)
		fmt.Sscan(rest, &pid)
		return ok
	})
	return pid
}

// kill ends the daemon and hears what it said before.
func (d *daemonProc) kill(t testing.TB) {
	t.Helper()
	d.killed()
	if err := d.cmd.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		require.NoError(t, err)
	}
	<-d.ended
}

// killed notes that the daemon is being killed now, unless it was before, and
// leaves a guard that is to end the tree at once.
func (d *daemonProc) killed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone == 0 {
		d.gone = clock.Boot()
	}
}

// due is when the relay must end at the latest: at its deadline, or with its
// daemon, after which nobody owns it, if there is a guard to see that.
func (d *daemonProc) due() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone != 0 {
		return min(d.until, d.gone)
	}
	return d.until
}

// jsonSpec leaves out what cannot be sent.
func jsonSpec(s Spec) map[string]any {
	return map[string]any{
		"Exe": s.Exe, "Args": s.Args, "Dir": s.Dir, "Env": s.Env, "Addr": s.Addr, "Port": s.Port,
		"StartTimeout": s.StartTimeout, "Ping": s.Ping, "PingEvery": s.PingEvery, "KMSN": s.KMSN,
		"Station": s.Station, "KillMargin": s.KillMargin, "LockPath": s.LockPath,
	}
}

// writeGuardSpec plays the daemon's first line.
func writeGuardSpec(t testing.TB, in io.Writer, spec Spec) {
	spec = spec.withDefaults()
	body, err := json.Marshal(spec.wire(mergeEnv(CleanEnv(os.Environ()), spec.Env)))
	require.NoError(t, err)
	_, err = fmt.Fprintf(in, "%s\n", body)
	require.NoError(t, err)
}
