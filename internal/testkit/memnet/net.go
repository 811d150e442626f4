package memnet

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

// Net is one network. All methods are safe for concurrent use. A Net used in a
// bubble must be made in it.
type Net struct {
	mu    sync.Mutex
	rng   *rand.Rand
	ports map[netip.AddrPort]*Port
	cut   map[link]bool
	off   map[netip.Addr]bool // hosts without power
	links map[link]Quality
	all   Quality
	moved chan struct{} // closed and replaced when a cut changes
	tap   func(from, to netip.AddrPort, packet []byte)

	stats Stats
}

// Quality is how good the way from one host to another is. The zero value is
// perfect.
type Quality struct {
	Min, Max time.Duration // one-way latency, evenly distributed
	Loss     float64       // of packets, 0 to 1
}

// Stats counts what was sent on a Net.
type Stats struct {
	Packets, Bytes uint64 // packets sent, lost ones included
	Lost           uint64 // of these, not delivered
	Streams        uint64 // connections made
}

// link is one direction between two hosts.
type link struct{ from, to netip.Addr }

// New makes a network; seed fixes its loss and latency as far as the order of
// the sends is fixed.
func New(seed uint64) *Net {
	return &Net{
		rng:   rand.New(rand.NewPCG(seed, 0x6d656d6e6574)),
		ports: map[netip.AddrPort]*Port{},
		cut:   map[link]bool{},
		off:   map[netip.Addr]bool{},
		links: map[link]Quality{},
		moved: make(chan struct{}),
	}
}

// SetQuality sets the quality of every link that has none of its own.
func (n *Net) SetQuality(q Quality) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = q
}

// SetLink sets the quality of one direction between two hosts.
func (n *Net) SetLink(from, to netip.Addr, q Quality) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links[link{from, to}] = q
}

// CutOneWay cuts, or heals, one direction between two hosts.
func (n *Net) CutOneWay(from, to netip.Addr, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if cut {
		n.cut[link{from, to}] = true
	} else {
		delete(n.cut, link{from, to})
	}
	n.signal()
}

// Partition cuts every link between hosts of different groups, both ways, on
// top of the cuts there are.
func (n *Net) Partition(groups ...[]netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, g := range groups {
		for j, h := range groups {
			if i == j {
				continue
			}
			for _, a := range g {
				for _, b := range h {
					n.cut[link{a, b}] = true
				}
			}
		}
	}
	n.signal()
}

// Heal removes every cut.
func (n *Net) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
	n.signal()
}

// Stats returns what was sent so far.
func (n *Net) Stats() Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stats
}

// signal wakes everybody who waits for a change; the lock is held.
func (n *Net) signal() {
	close(n.moved)
	n.moved = make(chan struct{})
}

// change returns a channel that is closed when a cut or port changes.
func (n *Net) change() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.moved
}

// reachable reports whether data passes from one host to another now.
func (n *Net) reachable(from, to netip.Addr) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.passes(from, to)
}

// passes is reachable with the lock held.
func (n *Net) passes(from, to netip.Addr) bool {
	return !n.cut[link{from, to}] && !n.off[from] && !n.off[to]
}

// Tap has f see every packet that is sent, lost ones included; nil ends that. f
// must neither keep nor change the packet, nor call the Net.
func (n *Net) Tap(f func(from, to netip.AddrPort, packet []byte)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tap = f
}

// PowerOff takes a host off the network without a word to anybody, or puts it
// back. A process killed while its host is off is not heard of until then.
func (n *Net) PowerOff(host netip.Addr, off bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if off {
		n.off[host] = true
	} else {
		delete(n.off, host)
	}
	n.signal()
}

// latency draws the one-way delay of a link; the lock is not held.
func (n *Net) latency(from, to netip.Addr) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.draw(n.quality(from, to))
}

func (n *Net) quality(from, to netip.Addr) Quality {
	if q, ok := n.links[link{from, to}]; ok {
		return q
	}
	return n.all
}

func (n *Net) draw(q Quality) time.Duration {
	if q.Max <= q.Min {
		return q.Min
	}
	return q.Min + time.Duration(n.rng.Int64N(int64(q.Max-q.Min)))
}

// Host returns the i-th address of the network, from 10.0.0.1 on: a convenience
// for tests. i is 0 to 65,000.
func Host(i int) netip.Addr {
	i++
	return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
}

// Listen opens a port at a host. It fails if the port is taken.
func (n *Net) Listen(host netip.Addr, port int) (*Port, error) {
	at := netip.AddrPortFrom(host, uint16(port))
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ports[at] != nil {
		return nil, fmt.Errorf("listen on %s: address already in use", at)
	}
	p := newPort(n, at)
	n.ports[at] = p
	n.signal()
	return p, nil
}
