package arbiter

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// manual makes the outside world answer nothing any more.
func (r *rig) manual() *rig {
	r.lists, r.creates, r.views, r.guards, r.relays, r.vouching = false, false, false, false, false, nil
	return r
}

// machineStates are the situations a machine can be in, each with nothing
// answered by itself from here on.
func machineStates() map[string]func(t *testing.T) *rig {
	return map[string]func(t *testing.T) *rig{
		"fresh": func(t *testing.T) *rig { return newRig(t).manual() },
		"first listing under way": func(t *testing.T) *rig {
			r := newRig(t).manual()
			r.do(TreeClear{})
			return r
		},
		"no chain":          func(t *testing.T) *rig { r := newRig(t); r.do(TreeClear{}); r.pass(3 * sec); return r.manual() },
		"founding":          stateFounding,
		"client on roster":  func(t *testing.T) *rig { return onRoster(t).manual() },
		"client off roster": func(t *testing.T) *rig { return stateFollowing(t, roster(idC)) },
		"released head":     func(t *testing.T) *rig { return stateFollowing(t, released(idC), roster(idB, idC)) },
		"unknown head":      stateUnknown,
		"foreign head":      stateForeign,
		"drained": func(t *testing.T) *rig {
			r := onRoster(t)
			r.do(Eligibility{Reasons: reason.Of(reason.Drained)})
			return r.manual()
		},
		"candidate":         func(t *testing.T) *rig { return taker(t).manual() },
		"candidate, unsure": func(t *testing.T) *rig { r := taker(t).manual(); r.created(Uncertain); return r },
		"won, not started":  func(t *testing.T) *rig { r, _, _ := slowWinner(t, 2*sec); return r.manual() },
		"starting":          func(t *testing.T) *rig { r := taker(t).manual(); r.created(OK); return r },
		"running":           func(t *testing.T) *rig { return settled(t).manual() },
		"running alone":     func(t *testing.T) *rig { return leader(t).manual() },
		"renewing":          func(t *testing.T) *rig { r := settled(t).manual(); r.nextCreate(3 * sec); return r },
		"renewal unsure":    func(t *testing.T) *rig { return stateUnsure(t) },
		"contested":         func(t *testing.T) *rig { r := stateUnsure(t); r.nextCreate(sec); r.created(Exists); return r },
		"waiting for guard": stateStaged,
		"guard lost": func(t *testing.T) *rig {
			r := settled(t).manual()
			r.do(RelayDown{Gen: r.gen, Cause: DownGuard})
			return r
		},
		"restarting":         stateRestarting,
		"handoff asked":      func(t *testing.T) *rig { r, _ := handing(t); return r.manual() },
		"handoff stopping":   func(t *testing.T) *rig { r, _ := handing(t); r.created(OK); return r.manual() },
		"releasing":          func(t *testing.T) *rig { r, _ := releasing(t); return r.manual() },
		"release unsure":     func(t *testing.T) *rig { r, _ := releasing(t); r.manual().created(Uncertain); return r },
		"final handoff":      func(t *testing.T) *rig { r := settled(t).manual(); r.do(Handoff{Final: true}); return r },
		"finished":           func(t *testing.T) *rig { r := onRoster(t); r.do(Handoff{Final: true}); return r.manual() },
		"expired, tree dies": func(t *testing.T) *rig { r := settled(t).manual(); r.stopsAt(3 * sec); return r },
		"lost, tree dies": func(t *testing.T) *rig {
			r := settled(t).manual()
			r.hear(r.entry(r.m.Status().Rev+1, 9, idB, roster(idA)), 1)
			return r
		},
	}
}

func stateFounding(t *testing.T) *rig {
	r := newRig(t)
	r.creates = false
	r.do(TreeClear{})
	r.pass(23 * sec)
	require.IsType(t, Found{}, r.creating)
	return r.manual()
}

func stateFollowing(t *testing.T, opts ...func(*lease.Record)) *rig {
	r := newRig(t)
	r.put(r.entry(7, 4, idB, opts...))
	r.aliveAll(idB, idC)
	r.do(TreeClear{})
	return r.manual()
}

func stateUnknown(t *testing.T) *rig {
	r := newRig(t)
	r.put(r.entry(6, 3, idB))
	r.chain[7] = nil
	r.do(TreeClear{})
	r.pass(3 * sec)
	return r.manual()
}

func stateForeign(t *testing.T) *rig {
	r := newRig(t)
	r.share, r.chain[7] = share, testCodec(t, "4711", "secret").Sign([]byte(`{"v":2`))
	r.do(TreeClear{})
	r.pass(3 * sec)
	return r.manual()
}

func stateUnsure(t *testing.T) *rig {
	r := settled(t)
	r.creates = false
	r.nextCreate(4 * sec)
	r.manual().created(Uncertain)
	return r
}

func stateStaged(t *testing.T) *rig {
	r := settled(t)
	r.guards = false
	r.vouching = []lease.ID{idB, idC, idD}
	r.aliveAll(idB, idC, idD)
	r.pass(4200 * ms)
	return r.manual()
}

func stateRestarting(t *testing.T) *rig {
	r := settled(t)
	r.do(RelayDown{Gen: r.gen, Cause: DownExited})
	r.do(RelayDown{Gen: r.gen, Cause: DownExited})
	return r.manual()
}

// machineEvents are all events in all their flavours, made for the situation
// the rig is in: results of what is under way, stale results, and whatever may
// come at any time.
func machineEvents(r *rig) map[string]func() Event {
	s := r.m.Status()
	head := max(s.Rev, 1)
	evs := map[string]func() Event{
		"tick":       func() Event { return Tick{} },
		"tree clear": func() Event { return TreeClear{} },
		"drained":    func() Event { return Eligibility{Reasons: reason.Of(reason.Drained)} },
		"eligible":   func() Event { return Eligibility{} },
		"handoff":    func() Event { return Handoff{Reason: "asked"} },
		"handoff B":  func() Event { return Handoff{To: idB, Reason: "asked"} },
		"final":      func() Event { return Handoff{Final: true, Reason: "stopping"} },
		"gone B":     func() Event { return LeaderGone{ID: idB} },
		"nobody":     func() Event { return MembersChanged{} },
		"members":    func() Event { return MembersChanged{Members: []Member{alive(idB), alive(idC), alive(idD)}} },
		"low share":  func() Event { return MembersChanged{Members: []Member{alive(idB), onShareID(idC, "1")}} },
		"clone": func() Event {
			return MembersChanged{Members: []Member{alive(idB), alive(lease.ID{Node: idA.Node, Run: "a9"})}}
		},
		"ack":        func() Event { return GuardAcked{Gen: r.gen, Seq: r.seq} },
		"stale ack":  func() Event { return GuardAcked{Gen: r.gen + 7, Seq: r.seq + 7} },
		"ready":      func() Event { return RelayReady{Gen: r.gen, PID: 9} },
		"stale down": func() Event { return RelayDown{Gen: r.gen + 7, Cause: DownExited} },
		"vouch B":    func() Event { return VouchReceived{From: idB, Run: idA.Run, Num: r.beat.Num} },
		"vouch C":    func() Event { return VouchReceived{From: idC, Run: idA.Run, Num: r.beat.Num} },
		"odd vouch":  func() Event { return VouchReceived{From: idB, Run: "a0", Num: r.beat.Num + 1} },
		"own beat":   func() Event { return BeatReceived{From: idA, Num: 1, Entry: r.entry(head, s.Epoch, idA)} },
		"far beat": func() Event {
			return BeatReceived{From: idB, Num: 1, Entry: r.entry(head+2000, s.Epoch+9, idB, roster(idA))}
		},
		"other beat": func() Event {
			return BeatReceived{From: idB, Num: 1, Entry: r.entry(head+1, s.Epoch+1, idB, onShare("9"))}
		},
		"low beat": func() Event {
			return BeatReceived{From: idB, Num: 1, Entry: r.entry(head+1, s.Epoch+1, idB, onShare("1"))}
		},
		"bad beat": func() Event {
			return BeatReceived{From: idB, Num: 1, Entry: lease.Entry{Rev: head + 1, Kind: lease.Unknown}}
		},
		"release":    func() Event { return HeadReceived{From: idB, Entry: r.entry(head+1, s.Epoch, idB, released(idA))} },
		"own will":   func() Event { return HeadReceived{From: idB, Entry: r.entry(head+1, s.Epoch, idA, released(idB))} },
		"stale head": func() Event { return HeadReceived{From: idB, Entry: r.entry(max(head-1, 1), 1, idC)} },
	}
	for c := DownStopped; c <= DownGuard; c++ {
		evs["down "+c.String()] = func() Event { return RelayDown{Gen: r.gen, Cause: c, Note: "exit 1"} }
	}
	for name, rev := range map[string]uint64{"older": max(head-1, 1), "same": head, "newer": head + 1, "later": head + 5} {
		evs["beat "+name] = func() Event {
			return BeatReceived{From: idB, Num: 3, Entry: r.entry(rev, s.Epoch+1, idB, roster(idA, idC))}
		}
	}
	for o := OK; o <= Uncertain; o++ {
		r.shareEvents(evs, o)
	}
	return evs
}

// shareEvents adds how the operations under way may end with this outcome, and
// the same for operations that were never begun.
func (r *rig) shareEvents(evs map[string]func() Event, o Outcome) {
	head := max(r.m.Status().Rev, 1)
	name := o.String()
	switch a := r.creating.(type) {
	case Create:
		evs["created "+name] = func() Event { return Created{Op: a.Op, Outcome: o} }
	case Found:
		evs["founded "+name] = func() Event { return Founded{Op: a.Op, Outcome: o} }
	}
	switch a := r.reading.(type) {
	case List:
		evs["listed "+name] = func() Event { return Listed{Op: a.Op, Outcome: o, Share: share, Revs: []uint64{head}} }
		evs["listed none "+name] = func() Event { return Listed{Op: a.Op, Outcome: o} }
		evs["listed hollow "+name] = func() Event { return Listed{Op: a.Op, Outcome: o, Share: share} }
		evs["listed newer "+name] = func() Event { return Listed{Op: a.Op, Outcome: o, Share: share, Revs: []uint64{head, head + 1}} }
		evs["listed elsewhere "+name] = func() Event { return Listed{Op: a.Op, Outcome: o, Share: "1", Revs: []uint64{2}} }
		evs["listed strays "+name] = func() Event { return Listed{Op: a.Op, Outcome: o, Share: share, Revs: []uint64{head, 9_999_999_999}} }
	case Read:
		evs["read valid "+name] = func() Event {
			return ReadDone{Op: a.Op, Outcome: o, Entry: r.entry(a.Rev, r.m.Status().Epoch+1, idB, roster(idA))}
		}
		evs["read unknown "+name] = func() Event {
			return ReadDone{Op: a.Op, Outcome: o, Entry: lease.Entry{Rev: a.Rev, Kind: lease.Unknown, Cause: "empty"}}
		}
		evs["read foreign "+name] = func() Event {
			return ReadDone{Op: a.Op, Outcome: o, Entry: lease.Entry{Rev: a.Rev, Kind: lease.Foreign, Cause: "KMSN"}}
		}
	}
	if o == OK {
		evs["stale created "+name] = func() Event { return Created{Op: 1 << 40, Outcome: o} }
		evs["stale founded "+name] = func() Event { return Founded{Op: 1 << 40, Outcome: o} }
		evs["stale listed "+name] = func() Event { return Listed{Op: 1 << 40, Outcome: o, Share: "1", Revs: []uint64{99}} }
		evs["stale read "+name] = func() Event { return ReadDone{Op: 1 << 40, Outcome: o, Entry: r.entry(head+1, 9, idB)} }
		evs["stale published "+name] = func() Event { return Published{Op: 1 << 40, Outcome: o} }
		evs["stale housekept "+name] = func() Event { return Housekept{Op: 1 << 40, Outcome: o} }
	}
}

// TestMachine_StatesTimesEvents: no event in any situation, in time or late,
// panics or breaks an invariant (the rig's checker judges every step), and
// whatever happens the machine finds back: the world then answers everything
// and the machine must go on without a step that is out of place.
func TestMachine_StatesTimesEvents(t *testing.T) {
	for state, mk := range machineStates() {
		t.Run(state, func(t *testing.T) {
			events := slices.Sorted(maps.Keys(machineEvents(mk(t))))
			require.Greater(t, len(events), 40)
			for i, event := range events {
				tryEvent(t, mk, event, 0)
				if i%3 == 0 {
					tryEvent(t, mk, event, 2*sec)
				}
			}
		})
	}
}

// tryEvent lets an event happen twice, after d without a tick, and then all be
// well again.
func tryEvent(t *testing.T, mk func(t *testing.T) *rig, event string, d time.Duration) {
	r := mk(t)
	ev := machineEvents(r)[event]()
	r.jump(d)
	r.checker.context = event + " after " + d.String()
	r.do(ev)
	r.do(ev) // duplicates change nothing
	r.heal()
	r.pass(sec)
}

// heal lets the outside world answer everything again, and what is under way.
func (r *rig) heal() {
	r.t.Helper()
	r.lists, r.creates, r.views, r.guards, r.relays = true, true, true, true, true
	if r.creating != nil {
		r.do(r.carryOut())
	}
	if r.reading != nil {
		r.do(r.look())
	}
	if r.checker.tree.alive && r.checker.tree.stopped {
		r.do(RelayDown{Gen: r.gen, Cause: DownStopped})
	}
	if r.checker.tree.alive {
		r.do(GuardAcked{Gen: r.gen, Seq: r.seq})
		r.do(RelayReady{Gen: r.gen, PID: 9})
	}
}
