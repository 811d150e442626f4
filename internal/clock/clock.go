// Package clock reads boot time: the time since the host booted, counting the
// time it slept.
//
// Every deadline in floatrelay is an instant of boot time, a time.Duration
// since boot. Wall clocks jump (daylight saving, a flat battery, a technician)
// and Go's own monotonic clock stops while a Linux host sleeps; either one
// would let a relay outlive its lease. Instants of two hosts, or of two boots
// of one host, are never compared.
//
// A virtual machine that is paused from outside does not notice: its boot time
// stops as well. That case is documented, not defended.
package clock

import "time"

// Boot returns the time since this host booted, sleep included. It never goes
// backwards within a boot. On Linux it is CLOCK_BOOTTIME, on Windows the
// interrupt time (100 ns units; 10–16 ms granularity where only GetTickCount64
// exists).
func Boot() time.Duration { return boot() }
