package simnet

import "time"

// clock is the boot-time clock of one host: it started at some value and runs
// up to 0.5 % fast or slow. It counts on while the host sleeps, as
// CLOCK_BOOTTIME does.
//
// Only the world knows world time; machines and guards are told nothing but
// this clock, and every deadline they set is an instant of it.
type clock struct {
	base   time.Duration // world time at which the host booted
	offset time.Duration // what the clock showed then
	ppm    int64         // rate error in parts per million
}

// local converts world time to this host's boot time.
func (c clock) local(world time.Duration) time.Duration {
	d := int64(world - c.base)
	return c.offset + time.Duration(d+d*c.ppm/1_000_000)
}

// world returns the first instant of world time at which the clock shows at
// least local.
func (c clock) world(local time.Duration) time.Duration {
	d := int64(local - c.offset)
	t := c.base + time.Duration(d-d*c.ppm/(1_000_000+c.ppm))
	for c.local(t) < local {
		t++
	}
	for c.local(t-1) >= local {
		t--
	}
	return t
}
