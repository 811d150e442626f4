package bubble

import (
	"net/netip"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/testkit/memnet"
)

// end ends a daemon's process without a word: the system closes its sockets.
func (n *node) end() {
	if n.isGone() {
		return
	}
	close(n.gone)
	n.port.Kill()
	n.cancel()
	n.done.Wait()
	_ = n.gossip.Close()
}

// kill is kill -9 of the daemon; the guard hears of it.
func (s *site) kill(n *node) time.Time {
	s.watch.note("FAULT: the daemon of %s is killed", n.station())
	at := time.Now()
	n.end()
	return at
}

// unplug takes a whole host away: daemon, guard and relay.
func (s *site) unplug(n *node) time.Time {
	s.watch.note("FAULT: %s loses its power", n.station())
	at := time.Now()
	s.net.PowerOff(n.addr, true)
	n.cut.Set(true)
	close(n.off)
	n.end()
	return at
}

// plug switches a host on again; a new run of its daemon starts.
func (s *site) plug(h *host) *node {
	h.boots++
	s.net.PowerOff(h.addr, false)
	h.cut.Set(false)
	return s.start(h, s.neighbours(h.i)...)
}

// freeze stops a daemon as SIGSTOP does: it hears nothing, says nothing and
// decides nothing, while its guard lives on and its connections stay open.
func (s *site) freeze(n *node) time.Time {
	s.watch.note("FAULT: the daemon of %s is frozen", n.station())
	at := time.Now()
	n.mu.Lock()
	n.thaw = make(chan struct{})
	n.mu.Unlock()
	s.net.PowerOff(n.addr, true)
	return at
}

func (s *site) thaw(n *node) {
	n.mu.Lock()
	thaw := n.thaw
	n.thaw = nil
	n.mu.Unlock()
	if thaw != nil {
		s.watch.note("the daemon of %s goes on", n.station())
		s.net.PowerOff(n.addr, false)
		close(thaw)
	}
}

// retire stops a daemon as its service does: it hands the lease over, says
// goodbye and ends.
func (s *site) retire(n *node) time.Time {
	s.watch.note("FAULT: the daemon of %s is stopped", n.station())
	at := time.Now()
	n.post(arbiter.Handoff{Reason: "stop", Final: true})
	s.side.Go(func() {
		for n.driver.Load().Status().Role == arbiter.Leader {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		_ = n.gossip.Leave(500 * time.Millisecond)
		n.end()
	})
	return at
}

// lossy is a poor LAN: every hundredth packet lost, up to 20 ms on the way.
var lossy = memnet.Quality{Min: time.Millisecond, Max: 20 * time.Millisecond, Loss: 0.01}

func addrs(nodes ...*node) (out []netip.Addr) {
	for _, n := range nodes {
		out = append(out, n.addr)
	}
	return out
}

// cutLAN parts these groups of members from each other.
func (s *site) cutLAN(groups ...[]*node) {
	var sides [][]netip.Addr
	for _, g := range groups {
		sides = append(sides, addrs(g...))
	}
	s.watch.note("FAULT: the LAN is cut: %v", sides)
	s.net.Partition(sides...)
}

func (s *site) heal() {
	s.watch.note("the LAN is whole")
	s.net.Heal()
}
