package gossip

import (
	"bytes"
	"slices"

	"github.com/convertfw/floatrelay/lease"
)

const (
	// recordsEach is how many records of one leader are kept: packets overtake
	// each other, and a brief beat of the last record may come after the first
	// of the next.
	recordsEach = 2
	// recordsKept bounds them all. There is one leader; the rest is for
	// takeovers and for whoever says to be one.
	recordsKept = 16
)

// heard is the member's side of brief beats: the records of the full ones, from
// which it makes full beats of brief ones. What it makes is, byte for byte, what
// the leader would have sent, so nothing needs to be believed. One goroutine
// uses it.
type heard struct {
	records []heardRecord // newest last
	newest  []heardNum
}

type heardRecord struct {
	from lease.ID
	sum  digest
	body []byte
}

// heardNum is the highest beat number heard of a run, in full or not.
type heardNum struct {
	from lease.ID
	num  uint64
}

// full notes a full beat.
func (h *heard) full(from lease.ID, num uint64, body []byte) {
	h.number(from, num)
	same := func(r heardRecord) bool { return r.from == from && bytes.Equal(r.body, body) }
	if i := slices.IndexFunc(h.records, same); i >= 0 {
		r := h.records[i]
		h.records = append(slices.Delete(h.records, i, i+1), r)
		return
	}
	theirs := 0
	for _, r := range h.records {
		if r.from == from {
			theirs++
		}
	}
	if theirs >= recordsEach {
		h.drop(func(r heardRecord) bool { return r.from == from })
	} else if len(h.records) >= recordsKept {
		h.drop(func(heardRecord) bool { return true })
	}
	h.records = append(h.records, heardRecord{from, digestOf(body), body})
}

// drop forgets the oldest record that is one.
func (h *heard) drop(one func(heardRecord) bool) {
	i := slices.IndexFunc(h.records, one)
	h.records = slices.Delete(h.records, i, i+1)
}

// brief returns the record of a brief beat. If it is not there, ask tells
// whether to ask for it: not for a beat that is older than another one heard, or
// was asked for before, for nobody has a use for it.
func (h *heard) brief(from lease.ID, num uint64, sum digest) (body []byte, ask bool) {
	newer := h.number(from, num)
	for _, r := range h.records {
		if r.from == from && r.sum == sum {
			return r.body, false
		}
	}
	return nil, newer
}

// number notes a beat's number and reports whether it is above all before.
func (h *heard) number(from lease.ID, num uint64) bool {
	for i := range h.newest {
		if n := &h.newest[i]; n.from == from {
			newer := num > n.num
			n.num = max(n.num, num)
			return newer
		}
	}
	if len(h.newest) >= recordsKept {
		h.newest = slices.Delete(h.newest, 0, 1)
	}
	h.newest = append(h.newest, heardNum{from, num})
	return true
}
