//go:build !linux && !windows

package clock

import "time"

var start = time.Now()

// boot falls back to Go's monotonic clock: good enough to develop on, not to
// run a site on, since it may stop while the host sleeps.
func boot() time.Duration { return time.Since(start) }
