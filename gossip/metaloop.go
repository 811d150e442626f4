package gossip

import (
	"math/rand/v2"
	"time"
)

const (
	// updateTimeout is how long memberlist may wait until an update went out
	// as often as it will: not at all, for a newer one replaces it anyway.
	updateTimeout = time.Nanosecond
	// The next update of what is not urgent waits this long per live member,
	// so that a site's traffic for it stays the same whatever its size: a
	// change costs each member about 7 kB at 200 members. The leader's waits
	// for lazyLeast, which is how often members off the roster ask the share; a
	// mere rev of all others, which nobody misses, ten times as long as an epoch.
	lazyPerMember = 3 * time.Second
	lazyRev       = 10
	lazyLeast     = 10 * time.Second
)

// SetMeta changes what this member says of itself. It does not block: changes
// are sent together, at most one per Tuning.MetaEvery; a mere new rev, or epoch
// of a member that does not lead, much more rarely.
func (g *Gossip) SetMeta(m Meta) {
	g.metaMu.Lock()
	g.meta = m
	g.metaMu.Unlock()
	select {
	case g.metaKick <- struct{}{}:
	default:
	}
}

// publishMeta sets what memberlist will be told next.
func (g *Gossip) publishMeta(m Meta) {
	m.Keys = g.keys.prints()
	m.Brief = !g.cfg.wordy
	b := m.Encode()
	g.metaOut.Store(&b)
}

// metaLoop sends changes to what was sent already. That is not what g.meta is by
// now: on a busy PC this goroutine may begin after the first change.
func (g *Gossip) metaLoop(sent Meta) {
	lazy := time.NewTimer(time.Hour)
	lazy.Stop()
	defer lazy.Stop()
	waiting := false // for lazy
	quick := false   // and it is an epoch that waits
	for {
		now := false
		select {
		case <-g.ctx.Done():
			return
		case <-lazy.C:
			waiting, quick, now = false, false, true
		case <-g.metaKick:
		}
		g.metaMu.Lock()
		m := g.meta
		g.metaMu.Unlock()
		switch {
		case urgent(sent, m) || now:
			g.sendMeta(m)
			sent = m
			if waiting {
				lazy.Stop()
				waiting, quick = false, false
			}
			if !g.pause(g.cfg.Tuning.MetaEvery) {
				return
			}
		case !waiting, !quick && sent.Epoch != m.Epoch:
			waiting, quick = true, sent.Epoch != m.Epoch
			lazy.Reset(g.lazyDelay(m.Leads(), quick))
		}
	}
}

// lazyDelay grows with the number of members; half of it is random, so that
// they do not all answer a takeover at once. There is one leader only.
func (g *Gossip) lazyDelay(leads, quick bool) time.Duration {
	if leads {
		return lazyLeast
	}
	per := lazyPerMember
	if !quick {
		per *= lazyRev
	}
	d := max(lazyLeast, time.Duration(len(g.IDs()))*per)
	return d/2 + rand.N(d/2)
}

func (g *Gossip) sendMeta(m Meta) {
	g.publishMeta(m)
	g.announce()
}

// announce sends our address and metadata to everybody once more.
func (g *Gossip) announce() {
	if ml := g.list(); ml != nil {
		_ = ml.UpdateNode(updateTimeout)
	}
}

// pause waits and reports whether there is still something to do.
func (g *Gossip) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-g.ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
