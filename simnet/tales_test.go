package simnet

// The holes that were found once, each with what went through it.
var tales = []tale{{
	// A guard that believed its daemon gone was given up, the daemon went on
	// under another, and the last will of the first released the lease over
	// records of the second: two relays. A will ends at its tip.
	name: "WillOfAGuardGivenUp",
	script: func() *Script {
		return NewScript(2).At(20*sec).DelayWill("A", 100*ms).BreakPipe("A").At(20*sec+290*ms).Freeze("A", 5*sec)
	},
	until:   40 * sec,
	reached: []string{"the last will of A1 stops at record"},
	mutants: []string{WillPastTip},
}, {
	// A relay was started again after a lost guard on a record that the guard's
	// last will could still go over.
	name: "RestartBelowTheWillsTip",
	script: func() *Script {
		return NewScript(2).At(20*sec).LoseCreates("A", true).At(24*sec).DelayWill("A", 700*ms).BreakPipe("A").
			At(24*sec+400*ms).LoseCreates("A", false).At(24*sec+850*ms).Freeze("A", 5*sec).DelayWill("A", 0)
	},
	until:   50 * sec,
	reached: []string{"the last will of A1 goes over record"},
	mutants: []string{"lost-guard-by-op"},
}, {
	// A member saw no chain, then for long nothing, then no chain again, and
	// counted that as one sight while a chain had come and gone: it founded a
	// second one beside a lease that ran.
	name: "EmptiedFolderFoundedAgain",
	script: func() *Script {
		return NewScript(2).At(15*sec).Split("A", "B").At(25 * sec).Wipe().At(28 * sec).CutShare("B").
			At(90 * sec).Wipe().MendShare("B")
	},
	until:   150 * sec,
	reached: []string{"share: A founds a chain", "RELAY of A1 runs, epoch 9", "share: B founds a chain"},
	mutants: []string{"missing-with-breaks"},
}, {
	// The same, with a founder whose cached listings did not show it the chain of
	// its own, under which another member led.
	name: "EmptiedFolderFoundedAgainLater",
	script: func() *Script {
		s := NewScript(2, func(o *Options) { o.Chain = NoChain })
		return s.At(5*sec).Split("A", "B").Kill("A").At(10*sec).Start("A").
			At(20*sec).KeepListing("B", 40*sec).At(25 * sec).Wipe()
	},
	until:   80 * sec,
	reached: []string{"share: B founds a chain at 1: ok", "RELAY of A2 runs, epoch 1"},
	mutants: []string{"missing-with-breaks"},
}, {
	// A restarted member saw no chain in listings up to 10 s old while one was
	// founded, led under, and wiped; gossip had named it. It founded another
	// beside the relay of the first.
	name: "ChainThatOnlyGossipHadSeen",
	script: func() *Script {
		s := NewScript(2, func(o *Options) { o.Chain = NoChain })
		return s.At(3*sec).Kill("B").At(5*sec).Start("B").At(20*sec).KeepListing("B", 30*sec).
			At(24*sec).Wipe().At(24*sec+500*ms).Split("A", "B")
	},
	until:   70 * sec,
	reached: []string{"B2 says: role role=ineligible [no-chain-here station=A", "RELAY of A1 runs, epoch 1"},
	mutants: []string{"gossip-chain-forgotten"},
}, {
	// The head could not be read, and the taker, long asleep, reckoned its epoch
	// from an older record than another member had: epochs fell, or were used
	// twice. The taker reads down to the newest record that can be read.
	name: "EpochAfterALongSleep",
	script: func() *Script {
		return NewScript(3).At(20*sec).Sleep("A", 66*sec).
			At(84*sec).CutShare("C").HoldBody("B").At(85*sec).PowerOff("B").At(90*sec).MendShare("C").
			At(95*sec).HoldBody("A").At(120*sec).BodyBeforeNextCreate("A", "C")
	},
	until:   160 * sec,
	reached: []string{"record 71 has its name and no body", "record 72 has its name and no body", "share: 72 epoch 11 held by A1 (unknown)"},
	mutants: []string{"no-digging"},
}, {
	// The same for a member that was off, and starts while the share, and so the
	// published view, is out of its reach.
	name: "EpochBelowAnUnreadableHead",
	script: func() *Script {
		return NewScript(3).At(20*sec).PowerOff("A").
			At(84*sec).CutShare("C").HoldBody("B").At(85*sec).PowerOff("B").At(90*sec).MendShare("C").
			At(85500*ms).CutShare("A").At(86*sec).Start("A").At(86*sec+500*ms).MendShare("A").
			At(95*sec).HoldBody("A").At(120*sec).BodyBeforeNextCreate("A", "C")
	},
	until:   160 * sec,
	reached: []string{"record 71 has its name and no body", "record 72 has its name and no body", "share: 72 epoch 11 held by A2 (unknown)"},
	mutants: []string{"no-digging"},
}, {
	// The better of two preemptors came second in the table and got the lease by
	// way of the lesser one.
	name: "PreemptedTwice",
	script: func() *Script {
		return NewScript(3, func(o *Options) {
			o.Seed, o.Claims, o.Prio = 2, []bool{false, true, true}, []int{50, 200, 100}
		}).At(30*sec).LoseCreates("A", true).At(33*sec).LoseCreates("A", false)
	},
	until:   110 * sec,
	reached: []string{"A1 says: handoff-unconfirmed how=preempted", "A1 says: released-lease rev=55 how=preempted"},
	relays:  2,
	mutants: []string{"first-preemptor"},
}, {
	// A member's own folder was empty for long (another disk under the same
	// letter) while it heard the leader's beats: it founded a chain beside it.
	name: "FolderOfOneMovedAway",
	script: func() *Script {
		return NewScript(3).At(20*sec).MoveFolder("B", 90*sec)
	},
	until:   150 * sec,
	reached: []string{"B sees another, empty folder"},
	relays:  1,
	mutants: []string{"founds-beside"},
}, {
	// The better of two preemptors had vouched for a moment less than the lesser
	// one, which got the lease first.
	name: "PreemptedAMomentTooEarly",
	script: func() *Script {
		return NewScript(3, func(o *Options) {
			o.Seed, o.Claims, o.Prio = 1, []bool{false, true, true}, []int{50, 100, 200}
		})
	},
	until:   110 * sec,
	reached: []string{"A1 says: handing-over how=preempted", "RELAY of C1 runs"},
	relays:  2,
	mutants: []string{"first-preemptor"},
}, {
	// A guard that stood still let a deadline pass; its daemon ends the tree.
	name: "FrozenGuardAtItsDeadline",
	script: func() *Script {
		return NewScript(3).At(20*sec).FreezeGuard("A", 10*sec).Split("A", "BC").CutShare("A")
	},
	until:   40 * sec,
	reached: []string{"the guard of A1 freezes", "ended by the daemon: its guard stands still", "RELAY of B1 runs"},
	mutants: []string{NoWatch},
}, {
	// A guard that goes on after its deadline has only what is left of
	// KILL_MARGIN, not a whole one.
	name: "FrozenGuardKilledLate",
	script: func() *Script {
		return NewScript(3).At(20*sec).FreezeGuard("A", 1150*ms).Split("A", "BC").CutShare("A")
	},
	until:   40 * sec,
	reached: []string{"the guard of A1 freezes", "RELAY of A1 ends: deadline", "RELAY of B1 runs"},
	mutants: []string{ThawedLate},
}, {
	// A PC that had verified nothing yet believed a stray file far above the chain,
	// waited for it alone, and took the next number beside a leader that renewed.
	name: "StrayFileAndAColdStart",
	script: func() *Script {
		return NewScript(3).At(20*sec).Plant(Garbage, 5000).At(24*sec).Split("C", "AB").At(25 * sec).Kill("C").At(27 * sec).Start("C")
	},
	until:   90 * sec,
	reached: []string{"C2 says: record-implausible rev=5000"},
	relays:  1,
	mutants: []string{"groundless"},
}}
