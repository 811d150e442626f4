package daemon

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
)

// trouble remembers how the relay failed here lately, for people: on the only
// PC of a site a relay that crashes again and again is started again and again,
// and whoever looks has to see that. It decides nothing.
type trouble struct {
	mu    sync.Mutex
	row   int           // failures since the relay last ran for calmAfter
	why   string        // of the last one
	at    time.Duration // boot time of the last one
	next  time.Duration // boot time of the next start
	ready time.Duration // boot time since which the relay serves; zero while it does not
}

// The arbiter's rhythm of restarts, which its status does not tell: at once,
// then doubling from a second to a quarter of a minute, anew once the relay ran for a
// minute or the lease was handed over for it.
const (
	calmAfter  = time.Minute
	firstPause = time.Second
	lastPause  = 15 * time.Second
	handsOver  = 3 // failures after which the lease is handed over
)

// saw takes in an event of the relay that is about to be posted; s is the
// arbiter's status before it.
func (t *trouble) saw(now time.Duration, s arbiter.Status, ev arbiter.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch ev := ev.(type) {
	case arbiter.RelayReady:
		t.ready = now
	case arbiter.RelayDown:
		t.forget(now)
		t.ready = 0
		if s.Relay != arbiter.RelayStopping && failure(ev.Cause) {
			t.failed(now, ev.Note)
		}
	}
}

// failure reports causes that are the relay's own doing.
func failure(c arbiter.DownCause) bool {
	return c == arbiter.DownExited || c == arbiter.DownUnready || c == arbiter.DownFailed
}

func (t *trouble) failed(now time.Duration, why string) {
	pause := time.Duration(0)
	for range t.row {
		pause = min(max(2*pause, firstPause), lastPause)
	}
	t.row++
	t.why, t.at, t.next = why, now, now+pause
}

// forget lets go of failures that a relay lived down.
func (t *trouble) forget(now time.Duration) {
	if t.ready != 0 && now-t.ready >= calmAfter {
		t.row, t.why = 0, ""
	}
}

// left takes in that this member does not lead. If it handed over because of
// its failures they count anew when it leads again.
func (t *trouble) left() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.row >= handsOver {
		t.row, t.why = 0, ""
	}
}

// failures are what is wrong now. Next is zero unless a start is waited for.
type failures struct {
	row      int
	why      string
	at, next time.Duration
}

func (t *trouble) look(now time.Duration) failures {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(now)
	f := failures{row: t.row, why: t.why, at: t.at}
	if t.row > 0 && t.next > now {
		f.next = t.next
	}
	return f
}

// note is what the members' table says of a leader whose relay fails again and
// again; one failure is over before anybody looks. clock tells the time of day
// of a boot time.
func (f failures) note(clock func(time.Duration) time.Time) string {
	if f.row < 2 {
		return ""
	}
	text := fmt.Sprintf("the relay failed %d times in a row, last at %s (%s)", f.row, clock(f.at).Format(time.TimeOnly), f.why)
	if f.next != 0 {
		text += "; next try at " + clock(f.next).Format(time.TimeOnly)
	}
	return text
}

// inRow finds what note wrote among a member's notes, which gossip may have cut
// short.
var inRow = regexp.MustCompile(`the relay failed (\d+ times) in a row(?:, last at \S+ \((.*))?`)

// Failing finds in a member's note that its relay fails again and again, and
// returns how often and why: "9 times in a row: exit code 0", else "".
func Failing(note string) string {
	m := inRow.FindStringSubmatch(note)
	if m == nil {
		return ""
	}
	why, _, more := strings.Cut(m[2], "); ")
	if !more {
		why = strings.TrimSuffix(why, ")")
	}
	if why == "" {
		return m[1] + " in a row"
	}
	return m[1] + " in a row: " + why
}

// relayEvent posts an event of the relay and remembers what it tells.
func (d *Daemon) relayEvent(ev arbiter.Event) {
	if d.driver != nil {
		d.trouble.saw(d.opt.now(), d.driver.Status(), ev)
	}
	d.post(ev)
}

// noteOf is why this member may not lead or, while it does, what is wrong with
// its relay.
func (d *Daemon) noteOf(s arbiter.Status) string {
	note := joinNotes(explain(s, d.room), d.api.note())
	if s.Role != arbiter.Leader {
		return note
	}
	return joinNotes(note, d.trouble.look(d.opt.now()).note(d.timeOfDay))
}

// clocksApart is how far apart in time the two clocks may be read, and
// clockTries how often a pair that was further apart is read again.
const (
	clocksApart = 50 * time.Millisecond
	clockTries  = 5
)

// timeOfDay is the wall clock's reading at a boot time.
func (d *Daemon) timeOfDay(at time.Duration) time.Time {
	for tries := 1; ; tries++ {
		now := d.opt.now()
		wall := d.opt.wall()
		if d.opt.now()-now <= clocksApart || tries == clockTries { // else this goroutine was held up in between
			return wall.Add(at - now)
		}
	}
}
