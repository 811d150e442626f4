package arbiter

import (
	"slices"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestMachine_AnyHistory lets anything happen at any time. The rig's checker
// judges every step; here is only what happens.
func TestMachine_AnyHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t, rt)
		for range rapid.IntRange(20, 120).Draw(rt, "steps") {
			h.wait()
			h.happen()
		}
		h.recover()
	})
}

// history is a machine to which random things happen. What was begun on the
// share may end in any way, but the share itself is honest: a create that is
// said to have succeeded is there, and nothing is there twice.
type history struct {
	*rig
	rt   *rapid.T
	rev  uint64 // highest rev that exists
	num  uint64
	late []Create // creates of unknown outcome that may still take effect
}

func newHistory(t *testing.T, rt *rapid.T) *history {
	r := newRig(t, func(c *Config) {
		c.Seed = rapid.Uint64().Draw(rt, "seed")
		c.Preempt = rapid.Bool().Draw(rt, "preempt")
	})
	r.t, r.checker.t = fatal{TB: t, rt: rt}, fatal{TB: t, rt: rt}
	h := &history{rig: r, rt: rt}
	if rapid.IntRange(0, 5).Draw(rt, "start") > 0 {
		h.rev = rapid.Uint64Range(1, 9).Draw(rt, "head")
		h.put(r.entry(h.rev, h.rev, h.somebody(), h.shape()...))
	}
	h.manual()
	h.do(TreeClear{})
	return h
}

// fatal makes the rig's failures those of the property, so that rapid shrinks
// them.
type fatal struct {
	testing.TB
	rt *rapid.T
}

func (f fatal) Helper()                      {}
func (f fatal) Fatalf(s string, args ...any) { f.rt.Fatalf(s, args...) }
func (f fatal) Errorf(s string, args ...any) { f.rt.Errorf(s, args...) }
func (f fatal) FailNow()                     { f.rt.FailNow() }

func (h *history) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(h.rt, label) }

func (h *history) somebody() lease.ID {
	return []lease.ID{idB, idC, {Node: idA.Node, Run: "a0"}}[h.pick("who", 3)]
}

func (h *history) peer() lease.ID { return []lease.ID{idB, idC, idD}[h.pick("peer", 3)] }

// shape draws state and roster of somebody else's record.
func (h *history) shape() []func(*lease.Record) {
	return [][]func(*lease.Record){
		{roster(idA, idC)}, {roster(idC)}, {}, {released(idA), roster(idA)}, {released(idC)},
		{roster(idA), figures(4*sec, sec)}, {roster(idA), figures(20*sec, 5*sec)},
	}[h.pick("shape", 7)]
}

// wait lets some time pass: mostly as the machine wishes, sometimes far more.
func (h *history) wait() {
	switch h.pick("wait", 10) {
	case 0, 1, 2:
	case 3:
		h.jump(time.Duration(h.pick("ms", 400)) * ms)
	case 4:
		h.pass(time.Duration(h.pick("tenths", 30)) * 100 * ms)
	case 5:
		h.jump(time.Duration(h.pick("s", 40)) * sec)
	default:
		h.run(max(min(h.m.Wake(), h.now+2*sec), h.now))
	}
}

// happen draws one event.
func (h *history) happen() {
	switch n := h.pick("what", 20); {
	case n < 5:
		h.createEnds()
	case n < 10:
		h.readEnds()
	case n < 13:
		h.relayEvent()
	case n < 16:
		h.vouch()
	case n == 16:
		h.othersCreate()
	case n == 17:
		h.message()
	case n == 18:
		h.membership()
	default:
		h.laterOn()
	}
}

// createEnds ends the create under way, truthfully if it says more than that
// it failed.
func (h *history) createEnds() {
	switch c := h.creating.(type) {
	case Create:
		out := []Outcome{OK, OK, OK, OK, Uncertain, Uncertain, NoBody, Unavailable, Denied}[h.pick("outcome", 9)]
		_, taken := h.chain[c.Rev]
		switch {
		case c.Share != h.share:
			out = NotExist
		case taken && (out == OK || out == NoBody):
			out = Exists
		case out == Uncertain && h.pick("applied", 3) == 0 && !taken:
			h.chain[c.Rev] = c.Body
		case out == Uncertain:
			h.late = append(h.late, c)
		}
		h.created(out)
		h.rev = max(h.rev, h.top())
	case Found:
		h.do(h.carryOut())
		h.rev = max(h.rev, h.top())
	}
}

// laterOn lets a create of unknown outcome take effect after all.
func (h *history) laterOn() {
	if len(h.late) == 0 {
		return
	}
	c := h.late[0]
	h.late = h.late[1:]
	if _, taken := h.chain[c.Rev]; !taken && c.Share == h.share {
		h.chain[c.Rev] = c.Body
		h.rev = max(h.rev, c.Rev)
	}
}

func (h *history) top() uint64 {
	revs := h.revs()
	if len(revs) == 0 {
		return 0
	}
	return slices.Max(revs)
}

func (h *history) readEnds() {
	if h.reading == nil {
		return
	}
	if h.pick("readable", 6) > 0 {
		h.do(h.look())
		return
	}
	switch a := h.reading.(type) {
	case List:
		h.do(Listed{Op: a.Op, Outcome: Unavailable})
	case Read:
		h.do(ReadDone{Op: a.Op, Outcome: Unavailable})
	}
}

func (h *history) relayEvent() {
	switch h.pick("relay", 8) {
	case 0, 1, 2, 3:
		h.do(GuardAcked{Gen: h.gen, Seq: h.seq})
	case 4, 5:
		h.do(RelayReady{Gen: h.gen, PID: 9})
	default:
		cause := DownCause(h.pick("cause", 6))
		if h.checker.tree.stopped {
			cause = DownStopped
		}
		h.do(RelayDown{Gen: h.gen, Cause: cause})
	}
}

func (h *history) vouch() {
	for _, id := range []lease.ID{idB, idC, idD} {
		if h.pick("vouches", 4) > 0 {
			num := h.beat.Num
			if h.pick("old", 4) == 0 && num > 2 {
				num -= 2
			}
			h.do(VouchReceived{From: id, Run: idA.Run, Num: num})
		}
	}
}

// othersCreate lets somebody else create the next record, readable or not.
func (h *history) othersCreate() {
	if h.share != share {
		return
	}
	h.rev = h.top() + 1
	if h.pick("readable", 4) == 0 {
		h.chain[h.rev] = nil
		return
	}
	h.put(h.entry(h.rev, h.m.Status().Epoch+1, h.peer(), h.shape()...))
}

// message delivers a beat or a head: of a record on the share, mostly.
func (h *history) message() {
	rev := max(h.rev, 1)
	if h.pick("older", 3) == 0 && rev > 1 {
		rev--
	}
	e := h.codec.Open(share, rev, h.chain[rev])
	if e.Kind != lease.Valid {
		return
	}
	h.num++
	if h.pick("head", 3) == 0 {
		h.do(HeadReceived{From: idB, Entry: e})
		return
	}
	h.hear(e, h.num)
}

func (h *history) membership() {
	switch h.pick("members", 9) {
	case 0, 1, 2:
		h.aliveAll(idB, idC, idD)
	case 3:
		h.members()
	case 4:
		h.members(alive(idB), onShareID(idC, "1"))
	case 5:
		h.members(alive(idB), alive(lease.ID{Node: idA.Node, Run: "a7"}))
	case 6:
		h.do(Eligibility{Reasons: [][]reason.Reason{nil, nil, reason.Of(reason.Drained)}[h.pick("note", 3)]})
	case 7:
		h.do(Handoff{To: h.peer(), Reason: "asked", Final: h.pick("final", 10) == 0})
	default:
		h.do(LeaderGone{ID: h.peer()})
	}
}

// recover ends all faults: with an honest world and nobody else alive the
// station must have a relay again, unless it was told to stop.
func (h *history) recover() {
	h.late = nil
	h.do(Eligibility{})
	h.members()
	h.heal()
	h.pass(26 * sec)
	if h.checker.finished || h.m.stop.Final {
		require.NotEqual(h.t, Leader, h.m.Status().Role)
		return
	}
	s := h.m.Status()
	require.Equal(h.t, Leader, s.Role, "nobody leads after all is well again: %s", s.Reasons)
	require.Equal(h.t, RelayRunning, s.Relay)
}
