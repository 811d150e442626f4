package gossip

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hashicorp/memberlist"
	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/lease"
)

// maxReliable bounds the connections SendHead has open at a time.
const maxReliable = 8

// errNoMember is a message to somebody who is not in the table.
var errNoMember = errors.New("no such member is alive")

// SendBeat sends a beat to these members, best effort, and never blocks. A
// member that is not alive in the table is skipped; the error names the first
// that could not be sent to, the others are sent to anyway. Members that have
// the record are sent its digest only; to their handlers that is the same.
func (g *Gossip) SendBeat(to []lease.ID, num uint64, body []byte) error {
	full, brief, sum := g.beats.next(to, num, body, g.readsBrief)
	var errs [2]error
	if len(full) > 0 {
		errs[0] = g.send(full, message{Type: typeBeat, From: g.cfg.Self, Num: num, Body: body})
	}
	if len(brief) > 0 {
		errs[1] = g.send(brief, message{Type: typeBriefBeat, From: g.cfg.Self, Num: num, Sum: sum})
	}
	return cmp.Or(errs[0], errs[1])
}

// SendVouch answers beat num of run run to its sender, best effort.
func (g *Gossip) SendVouch(to lease.ID, run string, num uint64) error {
	m := message{Type: typeVouch, From: g.cfg.Self, Run: run, Num: num}
	if g.readsBrief(to) {
		m.Type = typeBriefVouch
	}
	return g.send([]lease.ID{to}, m)
}

// readsBrief reports whether a member announces that it reads brief messages.
func (g *Gossip) readsBrief(id lease.ID) bool {
	r, ok := g.table.get(id)
	return ok && r.Meta.Brief && !g.cfg.wordy
}

// SendHead tells a member of a record, best effort; with reliable also over a
// connection, in the background, so that it may arrive twice.
func (g *Gossip) SendHead(to lease.ID, body []byte, reliable bool) error {
	m := message{Type: typeHead, From: g.cfg.Self, Body: body}
	err := g.send([]lease.ID{to}, m)
	if !reliable {
		return err
	}
	return g.sendReliable(to, m)
}

// sayBye tells everybody that this run ends on purpose.
func (g *Gossip) sayBye() {
	_ = g.send(g.IDs(), message{Type: typeBye, From: g.cfg.Self})
}

func (g *Gossip) send(to []lease.ID, m message) error {
	b, err := m.encode()
	if err != nil {
		return err
	}
	ml := g.list()
	if ml == nil {
		return ErrClosed
	}
	var first error
	for _, id := range to {
		n, err := g.node(id)
		if err == nil {
			err = ml.SendBestEffort(n, b)
		}
		if err != nil && first == nil {
			first = fmt.Errorf("send to %s: %w", id, err)
		}
	}
	return first
}

func (g *Gossip) sendReliable(to lease.ID, m message) error {
	b, err := m.encode()
	if err != nil {
		return err
	}
	ml := g.list()
	n, err := g.node(to)
	if ml == nil || err != nil {
		return fmt.Errorf("send to %s: %w", to, errors.Join(err, g.ctx.Err()))
	}
	select {
	case g.reliable <- struct{}{}:
	default:
		return fmt.Errorf("send to %s: %d connections are still under way", to, maxReliable)
	}
	go func() {
		defer func() { <-g.reliable }()
		if err := ml.SendReliable(n, b); err != nil {
			g.log.Debug("send over a connection failed", zap.Stringer("to", to), zap.Error(err))
		}
	}()
	return nil
}

// node makes the little memberlist needs to know for sending. Its own nodes
// must not be read outside its lock.
func (g *Gossip) node(id lease.ID) (*memberlist.Node, error) {
	r, ok := g.table.get(id)
	if !ok || !r.Addr.IsValid() || !r.Up() && !r.claimed {
		return nil, errNoMember
	}
	return &memberlist.Node{
		Name: id.String(),
		Addr: r.Addr.Addr().AsSlice(),
		Port: r.Addr.Port(),
		PMax: memberlist.ProtocolVersion2Compatible, // no checksum: the encryption has one
	}, nil
}
