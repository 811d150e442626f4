package simnet

import (
	"github.com/convertfw/floatrelay/arbiter"
)

// A token is changed PC by PC, in any order and over any time: first each PC gets
// the new one and keeps the old one as RELAY_TOKEN_OLD; once all have both, each
// drops the old one. In between everything is sent and signed with the old token
// until all members that gossip shows alive read the new one. Mode rotation goes
// through that; mode tokens is a change made wrongly.

// The steps of a rotation, as indices of World.keys.
const (
	oldToken = iota
	bothTokens
	newToken
)

// cutRotationKeys makes the vaults of a rotation.
func (w *World) cutRotationKeys(cut func(token string, more ...string) *vault) {
	w.keys = []*vault{cut(tokens[0]), cut(tokens[1], tokens[0]), cut(tokens[1])}
	w.signsOld = cut(tokens[0], tokens[1])
}

// hears reports whether two members read each other's packets.
func (w *World) hears(a, b *vault) bool {
	if a == b || !w.opt.Rotation {
		return a == b
	}
	return a == w.keys[bothTokens] || b == w.keys[bothTokens]
}

// rotate gives a PC the next token of its change, if the change has come that
// far, and restarts its daemon.
func (w *World) rotate(h *host) bool {
	if h.token == newToken {
		return false
	}
	for _, x := range w.hosts {
		if h.token == bothTokens && (x.token == oldToken || x.daemon != nil && x.daemon.keys == w.keys[oldToken]) {
			return false
		}
	}
	h.token++
	return true
}

// chooseToken lets a daemon that has both tokens sign with the new one if as many
// of the members it sees alive read that as read the old one.
func (w *World) chooseToken(d *daemon) {
	if !w.opt.Rotation || d.keys != w.keys[bothTokens] {
		return
	}
	readOld, readNew := 0, 0
	for _, p := range d.peers {
		if !p.alive {
			continue
		}
		if p.of.keys != w.keys[oldToken] {
			readNew++
		}
		if p.of.keys != w.keys[newToken] {
			readOld++
		}
	}
	if readOld+readNew > 0 {
		d.usesNew = readNew >= readOld
	}
}

// signer is the vault a daemon, or its guard, seals with.
func (d *daemon) signer() *vault {
	w := d.host.w
	if w.opt.Rotation && d.keys == w.keys[bothTokens] && !d.usesNew {
		return w.signsOld
	}
	return d.keys
}

// verified is a packet as its receiver sees it: with its own tokens.
func (w *World) verified(ev arbiter.Event, by *daemon) arbiter.Event {
	if !w.opt.Rotation {
		return ev
	}
	switch e := ev.(type) {
	case arbiter.BeatReceived:
		e.Entry = by.keys.openAny(e.Entry.Body)
		return e
	case arbiter.HeadReceived:
		e.Entry = by.keys.openAny(e.Entry.Body)
		return e
	}
	return ev
}
