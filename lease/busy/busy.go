// Package busy repeats calls on a share that are refused because somebody has
// the file open or because the name is still being deleted. It holds the one
// copy of how long that may go on; what counts as busy is the backends' matter.
package busy

import (
	"context"
	"time"
)

// Pace says for how long a busy name is tried again, and the longest pause in
// between; pauses double from ten milliseconds on.
type Pace struct{ Limit, Most time.Duration }

const first = 10 * time.Millisecond

var (
	// Create is for a new name: within a RENEW.
	Create = Pace{500 * time.Millisecond, 100 * time.Millisecond}
	// Replace is for a publication: as long as an antivirus usually keeps a file.
	// Readers have it open again and again, each for a moment; many short pauses
	// find the gap between them.
	Replace = Pace{2 * time.Second, 20 * time.Millisecond}
	// Other is for everything else.
	Other = Create
)

// Do makes the call, and again while it reports busy, until the limit is
// reached or ctx ends.
func (p Pace) Do(ctx context.Context, call func() (busy bool)) {
	pause, start := first, time.Now()
	for call() && time.Since(start)+pause <= p.Limit {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, p.Most)
	}
}
