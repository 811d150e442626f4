package daemon

import "time"

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
