package simnet

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Mode is the kind of trouble a world specialises in.
type Mode string

// The modes.
const (
	General   Mode = "general"   // everything, each kind switched on in half of the worlds
	Sleep     Mode = "sleep"     // hosts and daemons freeze and wake, often in mid-action
	Busy      Mode = "busy"      // processes come and go: crashes, restarts, handoffs, relay failures
	Slow      Mode = "slow"      // the share answers near and above FENCE
	Race      Mode = "race"      // a slow share and leaders that vanish or hand over all the time
	Hibernate Mode = "hibernate" // sleeps longer than records are kept, packets from before in the buffer
	Damage    Mode = "damage"    // records without bodies, members with different figures, a LAN in pieces
	Folders   Mode = "folders"   // two folders by mistake: the lower share id must win
	Noise     Mode = "noise"     // no faults, only weather: nothing may change hands
	Failover  Mode = "failover"  // only the leader's host dies: how fast is it replaced?
	Clones    Mode = "clones"    // two or three PCs with one node UUID
	Tokens    Mode = "tokens"    // a changed token: members that cannot read each other's records
	Guards    Mode = "guards"    // guards that stand still while their daemon lives
	Preempt   Mode = "preempt"   // priorities, and members that take the lease back
	Offline   Mode = "offline"   // PCs that fall back to an offline copy of the folder
	Moved     Mode = "moved"     // one PC at a time whose LEASE_DIR has become another, empty folder
	Emptied   Mode = "emptied"   // the folder is emptied while members are away for long
	Torn      Mode = "torn"      // bodies that are missing, halved or minutes late, and members that know old records only
	Upkeep    Mode = "upkeep"    // members that join late, leave for long, and restart one after the other with other figures
	Unfit     Mode = "unfit"     // PCs on which the relay never becomes ready, whatever heals
	Rotation  Mode = "rotation"  // the token is changed PC by PC, with RELAY_TOKEN_OLD
	Restore   Mode = "restore"   // a backup of the folder is restored: the documented exception
	Scripted  Mode = "script"    // told by a test, see Script
)

// Modes lists every mode that the search goes through, in the order of its
// rounds.
var Modes = []Mode{General, Sleep, Busy, Slow, Race, Hibernate, Damage, Folders, Clones, Tokens, Guards, Preempt, Offline, Moved, Emptied, Torn, Upkeep, Rotation, Unfit}

// Options is everything one seed expands into. It is printed with a failure;
// a world is a function of its Options and nothing else.
type Options struct {
	Seed   uint64
	Mode   Mode
	Nodes  int
	Clones int           // hosts that share the node UUID of the first, itself included
	Shares int           // folders that members' LEASE_DIR point to: 1, or 2 by mistake
	Safety time.Duration // how long faults last; healing and liveness follow
	JoinBy time.Duration // members but the first start at any time until this; 0 = all within 5 s

	Chain    Chain // what the share holds when the world begins
	Figures  Figures
	Mixed    bool    // every start of a daemon draws figures of its own
	PPM      []int64 // clock rate error per node, within ±5000 (0.5 %)
	Prio     []int   // RELAY_PRIORITY per node
	Claims   []bool  // RELAY_PREEMPT per node
	Unfit    []bool  // per node: no relay ever becomes ready there
	Rotation bool    // a token is changed as it should be, PC by PC
	Tokens   int     // how many tokens are in use: 0 or 1, or 2 by mistake
	Walls    bool    // wall clocks in other zones, which jump

	Net   NetRates
	Share ShareRates
	Proc  ProcRates

	Faults []Fault

	Defect string // a deliberate breakage of the world's own adapters, or empty
}

// Chain is what the share holds when a world begins.
type Chain string

// What the share may hold.
const (
	NoChain  Chain = "none"     // LEASE_DIR is there and empty
	Released Chain = "released" // somebody gave the lease back long ago
	Held     Chain = "held"     // somebody who is gone still holds it
	Damaged  Chain = "damaged"  // the newest record cannot be read
)

// Figures are the settings of stk.ini that the protocol depends on. All nodes
// of a world share them unless a fault changes one.
type Figures struct {
	TTL, Renew, Poll, Fence, Beat, Grace time.Duration
}

// Defaults are the figures a site gets without configuring anything.
var Defaults = Figures{
	TTL: 10 * time.Second, Renew: 3 * time.Second, Poll: 2 * time.Second,
	Fence: 1500 * time.Millisecond, Beat: 250 * time.Millisecond, Grace: time.Second,
}

// NetRates describe the links.
type NetRates struct {
	Min, Max           time.Duration // latency of a packet
	Loss, Dup, Replay  float64       // probabilities per packet
	Spike              float64       // probability that a packet is late by up to SpikeMax
	SpikeMax           time.Duration
	DetectMin, DetectM time.Duration // how long gossip takes to call a silent member dead
}

// ShareRates describe the share as one client sees it.
type ShareRates struct {
	Min, Max   time.Duration // latency of one call
	Spike      float64       // probability that a call takes up to SpikeMax instead
	SpikeMax   time.Duration
	GiveUp     time.Duration // the client stops waiting after this; 0 = never (a plain folder)
	LostAck    float64       // done, but the caller is not told
	Late       float64       // the caller is told "unknown", it is done up to LateMax later
	LateMax    time.Duration
	NoBody     float64 // created, the body fails
	TornBody   float64 // created, and half of the body written; the rest may follow
	SplitBody  float64 // created, the body follows up to SplitMax later
	SplitMax   time.Duration
	StaleList  float64 // a listing is answered from a cache up to 10 s old
	StaleMiss  float64 // "not found" is answered from a cache up to 5 s old
	FreezeCall float64 // the caller freezes between deciding to create and calling
}

// ProcRates describe processes and timers.
type ProcRates struct {
	SpawnMax     time.Duration // from StartRelay to a live tree
	StartMax     time.Duration // from a live tree to ready
	StartTimeout time.Duration // RELAY_START_TIMEOUT
	PipeMax      time.Duration // a line between daemon and guard
	TimerMax     time.Duration // how late timers fire
	NeverReady   float64       // probability per start
	Crash        float64       // probability per start that the relay dies within 20 s
	FreezeMid    float64       // probability per step that the daemon freezes between two actions
	FreezeMax    time.Duration // how long such freezes last
	Buffer       int           // packets that wait for a sleeping process; later ones are dropped
	KillExact    float64       // probability that a kill takes exactly KILL_MARGIN
}

// Expand turns a seed into the options of a world.
func Expand(seed uint64, mode Mode) Options {
	d := newDice(seed, streamOptions)
	o := Options{Seed: seed, Mode: mode, Shares: 1, Walls: true, Nodes: oneOf(d, 1, 2, 2, 3, 3, 3, 4, 4, 5, 8)}
	o.Figures = drawFigures(d)
	o.Safety = d.between(4*o.Figures.TTL, 4*o.Figures.TTL+60*time.Second)
	o.Mixed = d.chance(0.25)
	o.Chain = oneOf(d, NoChain, Released, Released, Held, Damaged)
	o.Net, o.Share, o.Proc = drawNet(d), drawShare(d, o.Figures), drawProc(d, o.Figures)
	switch mode {
	case Sleep:
		o.Proc.FreezeMid, o.Share.FreezeCall = 0.002, 0.08
		o.Proc.FreezeMax = o.Figures.TTL * 3
	case Busy:
		o.Proc.Crash, o.Proc.NeverReady = 0.1, 0.02
	case Slow:
		o.Share.Spike, o.Share.SpikeMax = 0.5, oneOf[time.Duration](d, 2, 4, 10)*o.Figures.Fence
	case Race:
		o.Nodes = 2 + o.Nodes%2
		o.Share.Spike, o.Share.SpikeMax = 0.7, 3*o.Figures.Fence
		o.Share.Late, o.Share.LateMax = 0, o.Figures.TTL
		o.Safety = 3 * o.Figures.TTL
	case Hibernate:
		o.Nodes = 2 + o.Nodes%3
		o.Chain, o.Mixed = Released, false
		o.Safety = 240 * time.Second
		o.Share.Spike, o.Share.SpikeMax = 0.1, 3*o.Figures.Fence
		o.Proc.Buffer = oneOf(d, 4, 16, 64)
	case Damage:
		o.Nodes = 2 + o.Nodes%2
		o.Mixed, o.Share.NoBody = true, 0.2
	case Folders:
		o.Nodes, o.Shares = 2+o.Nodes%3, 2
		o.Chain = Released
	case Clones:
		o.Nodes = 3 + o.Nodes%3
		o.Clones = oneOf(d, 2, 2, 3)
		o.Nodes = max(o.Nodes, o.Clones+1)
	case Tokens:
		o.Nodes, o.Tokens = 2+o.Nodes%3, 2
	case Guards:
		o.Nodes = 2 + o.Nodes%3
	case Preempt:
		o.Nodes = max(o.Nodes, 2)
	case Offline:
		o.Nodes = 2 + o.Nodes%3
		o.Chain, o.Safety = Released, 240*time.Second
	case Moved:
		o.Nodes = 3 + o.Nodes%3
		o.Proc.FreezeMid = 0
		o.Chain, o.Safety = Released, 240*time.Second
	case Rotation:
		o.Nodes, o.Rotation = 2+o.Nodes%3, true
		o.Safety = 150 * time.Second
	case Emptied:
		o.Nodes = 2 + o.Nodes%3
		o.Chain, o.Safety = Released, 300*time.Second
		o.Share.StaleList = oneOf(d, 0.2, 0.5, 0.9)
	case Torn:
		o.Nodes = 2 + o.Nodes%3
		o.Chain, o.Safety = Released, 240*time.Second
		o.Share.NoBody, o.Share.TornBody = 0.02, 0.05
		o.Share.SplitBody, o.Share.SplitMax = 0.1, oneOf(d, 5*time.Second, 40*time.Second)
	case Upkeep:
		o.Nodes = max(o.Nodes, 2)
		o.Safety, o.Mixed = 150*time.Second, true
		o.JoinBy = oneOf(d, 10*time.Second, 60*time.Second)
	case Unfit:
		o.Nodes = max(o.Nodes, 2)
		o.Safety = 300 * time.Second
		o.Proc.Crash, o.Proc.StartTimeout = 0, oneOf(d, 5*time.Second, 25*time.Second, 60*time.Second)
		o.Proc.StartMax = min(o.Proc.StartMax, o.Proc.StartTimeout/2)
	case Noise:
		o.weather()
	case Failover:
		o.quiet()
		o.Chain, o.Mixed = Released, false
		o.Nodes = max(o.Nodes, 2)
	}
	o.PPM, o.Prio = drawNodes(d, o.Nodes)
	if mode == Preempt {
		o.Claims = make([]bool, o.Nodes)
		for i := range o.Claims {
			o.Prio[i] = oneOf(d, 50, 100, 200)
			o.Claims[i] = d.chance(0.5)
		}
	}
	if mode == Unfit {
		o.Unfit = make([]bool, o.Nodes)
		for i := range o.Unfit {
			o.Unfit[i] = d.chance(0.4)
		}
		o.Unfit[d.IntN(o.Nodes)] = false
	}
	if mode == Failover || mode == Folders || mode == Clones || mode == Unfit {
		o.Prio = slices.Repeat([]int{100}, o.Nodes)
	}
	o.Faults = drawFaults(newDice(seed, streamFaults), o)
	return o
}

func drawFigures(d dice) Figures {
	f := oneOf(d,
		Defaults, Defaults,
		Figures{TTL: 3 * time.Second, Renew: time.Second, Poll: time.Second, Fence: 350 * time.Millisecond, Beat: 70 * time.Millisecond},
		Figures{TTL: 6 * time.Second, Renew: 2 * time.Second, Poll: 2 * time.Second, Fence: 2 * time.Second, Beat: 400 * time.Millisecond},
		Figures{TTL: 20 * time.Second, Renew: 5 * time.Second, Poll: 2 * time.Second, Fence: 800 * time.Millisecond, Beat: 160 * time.Millisecond},
	)
	f.Grace = oneOf(d, 0, 200*time.Millisecond, time.Second)
	return f
}

func drawNet(d dice) NetRates {
	n := NetRates{
		Min: 100 * time.Microsecond, Max: oneOf(d, 300*time.Microsecond, time.Millisecond, 20*time.Millisecond),
		DetectMin: 1200 * time.Millisecond, DetectM: 2100 * time.Millisecond,
	}
	n.Loss = oneOf(d, 0, 0, 0.01, 0.1)
	n.Dup = oneOf(d, 0, 0.05)
	n.Replay = oneOf(d, 0, 0, 0.05)
	n.Spike, n.SpikeMax = oneOf(d, 0, 0.02), 2*time.Second
	return n
}

func drawShare(d dice, f Figures) ShareRates {
	s := ShareRates{
		Min: 200 * time.Microsecond, Max: oneOf(d, 500*time.Microsecond, 5*time.Millisecond, 100*time.Millisecond),
		SpikeMax: 2 * f.Fence, LateMax: oneOf(d, f.Fence, f.TTL, 3*f.TTL), SplitMax: oneOf(d, 50*time.Millisecond, 2*f.Fence),
		GiveUp: oneOf(d, 0, 2*time.Second, 15*time.Second),
	}
	s.Spike = oneOf(d, 0, 0.02, 0.1)
	s.LostAck = oneOf(d, 0, 0, 0.05, 0.2)
	s.Late = oneOf(d, 0, 0, 0.05, 0.2)
	s.NoBody = oneOf(d, 0, 0, 0.05)
	s.SplitBody = oneOf(d, 0, 0, 0.1)
	s.StaleList = oneOf(d, 0, 0.5, 0.9)
	s.StaleMiss = oneOf(d, 0, 0.5)
	s.FreezeCall = oneOf(d, 0, 0, 0.02)
	return s
}

func drawProc(d dice, f Figures) ProcRates {
	return ProcRates{
		SpawnMax: oneOf(d, time.Millisecond, 50*time.Millisecond), StartMax: oneOf(d, 10*time.Millisecond, time.Second, 20*time.Second),
		StartTimeout: 60 * time.Second, PipeMax: oneOf(d, 100*time.Microsecond, 20*time.Millisecond),
		TimerMax: oneOf(d, 0, time.Millisecond, 16*time.Millisecond),
		Buffer:   256, Crash: oneOf(d, 0, 0.05), FreezeMid: oneOf(d, 0, 0, 0.0005), FreezeMax: 2 * f.TTL, KillExact: oneOf(d, 0, 0.5, 1),
	}
}

func drawNodes(d dice, n int) (ppm []int64, prio []int) {
	for range n {
		ppm = append(ppm, oneOf(d, -5000, 5000, d.Int64N(10_001)-5000))
		prio = append(prio, oneOf(d, 100, 100, 100, 50, 200, 0))
	}
	prio[d.IntN(n)] = 100
	return ppm, prio
}

// weather is what a healthy site lives with: 1 % loss, share spikes up to
// FENCE/3, pauses up to 100 ms.
func (o *Options) weather() {
	o.Nodes = max(o.Nodes, 2)
	o.quiet()
	o.Safety, o.Chain, o.Mixed = time.Hour, Released, false
	o.Figures = Defaults
	o.Net.Loss = 0.01
	o.Share.Spike, o.Share.SpikeMax = 0.05, o.Figures.Fence/3
	o.Proc.TimerMax = 16 * time.Millisecond
	o.Proc.FreezeMid, o.Proc.FreezeMax = 0.002, 100*time.Millisecond
}

// quiet leaves only ordinary latencies.
func (o *Options) quiet() {
	o.Net.Loss, o.Net.Dup, o.Net.Replay, o.Net.Spike = 0, 0, 0, 0
	o.Net.Max = time.Millisecond
	o.Share = ShareRates{Min: 200 * time.Microsecond, Max: 5 * time.Millisecond}
	o.Proc = ProcRates{
		SpawnMax: 10 * time.Millisecond, StartMax: 50 * time.Millisecond, StartTimeout: 60 * time.Second,
		PipeMax: time.Millisecond, TimerMax: time.Millisecond, FreezeMax: time.Millisecond, KillExact: 0.5, Buffer: 256,
	}
}

// String prints the options, the schedule of faults one per line.
func (o Options) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d mode %s nodes %d safety %v", o.Seed, o.Mode, o.Nodes, o.Safety)
	if o.Defect != "" {
		fmt.Fprintf(&b, " defect %q", o.Defect)
	}
	fmt.Fprintf(&b, "\n  chain %s figures %+v mixed %t clones %d tokens %d preempt %v unfit %v\n  ppm %v prio %v\n  net %+v\n  share %+v\n  proc %+v\n", o.Chain, o.Figures, o.Mixed, o.Clones, o.Tokens, o.Claims, o.Unfit, o.PPM, o.Prio, o.Net, o.Share, o.Proc)
	for _, f := range o.Faults {
		fmt.Fprintf(&b, "  %v\n", f)
	}
	return b.String()
}
