package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/relayproc"
)

// paper is a log to look into.
type paper struct {
	t    *testing.T
	mu   sync.Mutex
	text strings.Builder
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(b)
	return p.t.Output().Write(b)
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// A PC that never ran a relay does not say that it waits for one to end.
func TestDaemon_FirstStartSpeaksOfNoEarlierRun(t *testing.T) {
	log := &paper{t: t}
	x := beginLogged(t, configFor(t, "POS-01", newShare(t)), nil, log)
	x.until("leads", leads)
	require.NotContains(t, log.String(), "earlier run")
}

// A guard.lock that cannot be opened keeps this PC from leading. It says so, and
// what to do, where people look, and not five times a second in the log.
func TestDaemon_LockThatCannotBeOpened(t *testing.T) {
	cfg := configFor(t, "POS-01", newShare(t))
	lock := filepath.Join(cfg.StateDir, "guard.lock")
	require.NoError(t, os.MkdirAll(lock, 0o700))
	log := &paper{t: t}
	x := beginLogged(t, cfg, nil, log)
	s := x.until("says what is wrong", func(s localapi.Status) bool { return strings.Contains(s.Note, "guard.lock") })
	require.Equal(t, "ineligible", s.Role)
	require.Contains(t, s.Note, "let this account write "+lock+", or delete it")
	require.Equal(t, s.Note, x.Members().Members[0].Note)
	time.Sleep(time.Second)
	require.Equal(t, 1, strings.Count(log.String(), "is in the way"))
	require.NoError(t, os.Remove(lock))
	require.Empty(t, x.until("leads", leads).Note)
}

func TestLockNote(t *testing.T) {
	require.Empty(t, lockNote(nil, "x"))
	require.Empty(t, lockNote(relayproc.ErrLocked, "x"), "the arbiter's own note says it better")
	require.Contains(t, lockNote(errors.New("open x: permission denied"), "x"), "permission denied; let this account write x")
}

// On the only PC of a site a relay that crashes is started again and again. The
// PC stays the leader, and whoever looks sees how often it failed, why, and
// when the next try is.
func TestDaemon_RelayCrashesOnTheOnlyPC(t *testing.T) {
	cfg := configFor(t, "POS-01", newShare(t))
	cfg.RelayArgs = []string{"standin", "-exit-after", "1ns", "-exit-code", "3"}
	log := &paper{t: t}
	x := beginLogged(t, cfg, nil, log)
	waits := func(n int) func(localapi.Status) bool {
		return func(s localapi.Status) bool { return s.Relay.Failures >= n && s.Relay.NextTry != "" }
	}
	s := x.until("waits for the fourth try", waits(3))
	require.Equal(t, "leader", s.Role)
	require.True(t, s.Eligible)
	require.Contains(t, s.Relay.LastEnd, "exit code 3")
	require.Contains(t, s.Note, "times in a row")
	require.Contains(t, s.Note, "exit code 3")
	require.Contains(t, s.Note, "next try at")
	require.Equal(t, s.Note, x.Members().Members[0].Note)
	require.Contains(t, log.String(), "exit code 3")

	next, err := time.Parse(time.RFC3339, s.Relay.NextTry)
	require.NoError(t, err)
	// What failed is known a moment before the arbiter has counted the restart.
	again := x.until("tried again", func(now localapi.Status) bool {
		return now.Relay.Failures > s.Relay.Failures && now.Relay.Restarts >= now.Relay.Failures
	})
	failed, err := time.Parse(time.RFC3339, again.Relay.LastEndAt)
	require.NoError(t, err)
	require.WithinRange(t, failed, next, next.Add(10*time.Second), "the next try was when it was announced")
}
