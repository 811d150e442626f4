package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/words"
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
	x.until("says what is wrong, and what to do", func(s localapi.Status) bool {
		return s.Role == "ineligible" && strings.Contains(s.Note, "let this account write "+lock+", or delete it") &&
			s.Note == x.Members().Members[0].Note
	})
	said := func() int { return strings.Count(log.String(), "is in the way") }
	require.Eventually(t, func() bool { return said() > 0 }, slack, 20*time.Millisecond, "the log says so, too")
	time.Sleep(time.Second) // five more looks
	require.Equal(t, 1, said())
	require.NoError(t, os.Remove(lock))
	x.until("leads, and nothing is wrong", func(s localapi.Status) bool { return leads(s) && s.Note == "" })
}

func TestLockNote(t *testing.T) {
	require.Empty(t, words.English.All(lockNote(nil, "x")))
	require.Empty(t, words.English.All(lockNote(relayproc.ErrLocked, "x")), "the arbiter's own note says it better")
	require.Contains(t, words.English.All(lockNote(errors.New("open x: permission denied"), "x")), "permission denied; let this account write x")
}

// On the only PC of a site a relay that crashes is started again and again. The
// PC stays the leader, and whoever looks sees how often it failed, why, and
// when the next try is.
func TestDaemon_RelayCrashesOnTheOnlyPC(t *testing.T) {
	cfg := configFor(t, "POS-01", newShare(t))
	cfg.RelayArgs = []string{"standin", "-exit-after", "1ns", "-exit-code", "3"}
	log := &paper{t: t}
	x := beginLogged(t, cfg, nil, log)
	// The parts of a status are not all of one moment.
	s := x.until("waits for the fourth try or a later one, and says so everywhere", func(s localapi.Status) bool {
		row := fmt.Sprintf("%d times in a row", s.Relay.Failures)
		return s.Relay.Failures >= 3 && s.Relay.NextTry != "" && strings.Contains(s.Note, row) &&
			strings.Contains(s.Note, "next try at") && s.Note == x.Members().Members[0].Note
	})
	require.Equal(t, "leader", s.Role)
	require.True(t, s.Eligible)
	require.Contains(t, s.Relay.LastEnd, "exit code 3")
	require.Contains(t, s.Note, "exit code 3")
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "exit code 3") }, slack, 20*time.Millisecond)

	next, err := time.Parse(time.RFC3339, s.Relay.NextTry)
	require.NoError(t, err)
	// What failed is known a moment before the arbiter has counted the restart.
	again := x.until("tried again", func(now localapi.Status) bool {
		return now.Relay.Failures > s.Relay.Failures && now.Relay.Restarts >= now.Relay.Failures
	})
	failed, err := time.Parse(time.RFC3339, again.Relay.LastEndAt)
	require.NoError(t, err)
	require.WithinRange(t, failed, next, next.Add(slack), "the next try was when it was announced")
}
