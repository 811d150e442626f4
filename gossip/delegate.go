package gossip

import (
	"time"

	"github.com/hashicorp/memberlist"
)

// delegate is what memberlist calls, with its lock held more often than not:
// nothing here blocks or calls memberlist. There is one for each memberlist:
// the timers of one that was shut down go on, and the table must not believe
// them; gen tells.
type delegate struct {
	g   *Gossip
	gen uint64 // grows with each memberlist
}

var (
	_ memberlist.Delegate      = (*delegate)(nil)
	_ memberlist.EventDelegate = (*delegate)(nil)
	_ memberlist.PingDelegate  = (*delegate)(nil)
)

// NodeMeta returns our metadata, already cut to size.
func (d *delegate) NodeMeta(int) []byte { return *d.g.metaOut.Load() }

// NotifyMsg takes a message of another member. What cannot be decoded, or is of
// a later version, is ignored.
func (d *delegate) NotifyMsg(b []byte) {
	if d.g.probes.take(b) {
		return
	}
	m, err := decodeMessage(b)
	if err != nil || m.From == d.g.cfg.Self || d.g.cfg.wordy && m.brief() {
		return
	}
	if m.Type == typeBye {
		d.g.table.bye(m.From.String())
		return
	}
	d.g.table.heard(m.From.String(), 0)
	d.g.queue.put(m)
}

// GetBroadcasts has nothing to spread; the metadata is memberlist's own.
func (d *delegate) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState has nothing to exchange.
func (d *delegate) LocalState(bool) []byte { return nil }

// MergeRemoteState has nothing to exchange.
func (d *delegate) MergeRemoteState([]byte, bool) {}

// NotifyJoin: a member came, or came back.
func (d *delegate) NotifyJoin(n *memberlist.Node) {
	d.update(n, Alive)
}

// NotifyUpdate: a member's metadata changed.
func (d *delegate) NotifyUpdate(n *memberlist.Node) { d.update(n, Alive) }

// NotifyLeave: a member died or left; which of the two memberlist does not
// say, see typeBye.
func (d *delegate) NotifyLeave(n *memberlist.Node) { d.update(n, Dead) }

func (d *delegate) update(n *memberlist.Node, s State) {
	self := n.Name == d.g.cfg.Self.String()
	if self && s == Dead {
		s = Left // nobody else says that of us
	}
	d.g.table.update(n, s, self, d.gen)
}

// AckPayload adds nothing to an ack.
func (d *delegate) AckPayload() []byte { return nil }

// NotifyPingComplete: a member answered a probe of ours.
func (d *delegate) NotifyPingComplete(n *memberlist.Node, rtt time.Duration, _ []byte) {
	d.g.table.heard(n.Name, max(rtt, time.Nanosecond))
}
