package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
)

// Script is a world in which nothing goes wrong but what the test says, when it
// says so. Its story is compared with a golden file: a person can read what the
// station does when, say, the leader loses the share only.
//
//	s := NewScript(3)
//	s.At(10 * time.Second).CutShare("A").Run(15 * time.Second)
type Script struct {
	*World
	at time.Duration
}

// NewScript returns a healthy station of n hosts at the default figures, with
// perfect clocks and A preferred as leader. Its share holds a chain that was
// given back.
// change, if any, alters its options before it is built.
func NewScript(n int, change ...func(*Options)) *Script {
	o := Options{Seed: 1, Mode: Scripted, Nodes: n, Chain: Released, Figures: Defaults}
	o.quiet()
	o.Net.Min, o.Net.DetectMin, o.Net.DetectM = 200*time.Microsecond, 1500*time.Millisecond, 1800*time.Millisecond
	o.Proc.TimerMax, o.Proc.KillExact = 0, 1
	for i := range n {
		o.PPM = append(o.PPM, 0)
		o.Prio = append(o.Prio, 100-10*i)
	}
	for _, how := range change {
		how(&o)
	}
	s := &Script{World: New(o)}
	for i, h := range s.hosts {
		s.queue.push(time.Duration(i)*300*time.Millisecond, func() { s.startDaemon(h) })
	}
	return s
}

// At moves the script to an instant; what follows happens then.
func (s *Script) At(t time.Duration) *Script {
	s.at = t
	return s
}

// do schedules a step of the script and tells of it.
func (s *Script) do(what string, do func()) *Script {
	s.queue.push(s.at, func() {
		s.story("--- %s", what)
		do()
	})
	return s
}

// Run lets the world live until an instant and returns the first violation.
func (s *Script) Run(until time.Duration) error {
	s.run(until)
	return s.failed
}

// host finds a host by its station.
func (s *Script) host(station string) *host { return s.hosts[station[0]-'A'] }

// group returns the indices of stations written as one word: "AC".
func group(stations string) map[int]bool {
	in := map[int]bool{}
	for _, r := range stations {
		in[int(r-'A')] = true
	}
	return in
}

// CutShare takes the share away from some hosts.
func (s *Script) CutShare(stations string) *Script {
	return s.do(stations+" lose the share", func() {
		for _, r := range stations {
			s.host(string(r)).shareCuts++
		}
	})
}

// MendShare gives it back.
func (s *Script) MendShare(stations string) *Script {
	return s.do(stations+" reach the share again", func() {
		for _, r := range stations {
			s.host(string(r)).shareCuts--
		}
	})
}

// Split cuts the LAN between two groups of hosts, both ways.
func (s *Script) Split(one, other string) *Script {
	return s.cutLAN(one+" | "+other+" no longer hear each other", between(one, other), 1)
}

// Join mends a Split.
func (s *Script) Join(one, other string) *Script {
	return s.cutLAN(one+" | "+other+" hear each other again", between(one, other), -1)
}

// Mute lets nobody hear the hosts of a group, which still hear everybody.
func (s *Script) Mute(stations string) *Script {
	in := group(stations)
	return s.cutLAN("nobody hears "+stations, func(from, _ int) bool { return in[from] }, 1)
}

func (s *Script) cutLAN(what string, which func(from, to int) bool, delta int) *Script {
	return s.do(what, func() {
		s.net.cut(which, delta)
		s.reachabilityChanged()
	})
}

func between(one, other string) func(from, to int) bool {
	a, b := group(one), group(other)
	return func(from, to int) bool { return a[from] && b[to] || b[from] && a[to] }
}

// LANDown cuts every link.
func (s *Script) LANDown() *Script {
	return s.cutLAN("the switch is down", func(int, int) bool { return true }, 1)
}

// LANUp mends LANDown.
func (s *Script) LANUp() *Script {
	return s.cutLAN("the switch is up", func(int, int) bool { return true }, -1)
}

// Stall lets no call on the share return for a while.
func (s *Script) Stall(d time.Duration) *Script {
	return s.do("the share stalls for "+d.String(), func() { s.shares[0].stalledUntil = s.now + d })
}

// Sleep puts a PC to sleep.
func (s *Script) Sleep(station string, d time.Duration) *Script {
	return s.do(station+" goes to sleep", func() { s.freezeHost(s.host(station), d) })
}

// Freeze stops a daemon, not its guard.
func (s *Script) Freeze(station string, d time.Duration) *Script {
	return s.do("the daemon of "+station+" is stopped", func() { s.freezeDaemon(s.host(station), d) })
}

// Kill ends a daemon with kill -9.
func (s *Script) Kill(station string) *Script {
	return s.do("the daemon of "+station+" is killed", func() { s.crashDaemon(s.host(station), "is gone") })
}

// PowerOff cuts a PC's power.
func (s *Script) PowerOff(station string) *Script {
	return s.do(station+" is switched off", func() { s.crashHost(s.host(station)) })
}

// Start starts what is missing on a host.
func (s *Script) Start(station string) *Script {
	return s.do(station+" is started", func() { s.startDaemon(s.host(station)) })
}

// Handoff asks a daemon to hand the lease over.
func (s *Script) Handoff(station string) *Script {
	return s.do(station+" is asked to hand over", func() {
		s.deliver(s.host(station).daemon, arbiter.Handoff{Reason: "asked"})
	})
}

// Wipe deletes what LEASE_DIR holds.
func (s *Script) Wipe() *Script {
	return s.do("the folder is wiped", func() { s.shares[0].wipe(s.now) })
}

// Leader returns the station whose relay runs, or "" if none or several do.
func (s *Script) Leader() string {
	if len(s.relays) != 1 || !s.relays[0].running() {
		return ""
	}
	return s.relays[0].guard.host.name
}
