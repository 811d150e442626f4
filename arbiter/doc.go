// Package arbiter decides who may run the relay.
//
// Machine is the decision: a pure state machine, Step(now, Event) []Action,
// without goroutines, I/O, clocks or randomness of its own. Driver is the thin
// shell that owns the one Machine of a daemon, carries its actions out in
// workers and feeds results back as events. The same Machine runs in
// production, in simnet's simulated worlds and in the scenario tests.
//
// The rules it follows are those of docs/protocol.md and are named in the code
// by their number. They look redundant and are not.
//
// What it does not guarantee: that somebody leads. With the share gone nobody
// may start a relay, and with both the share and the LAN gone the running one
// stops.
//
// # Where each rule is
//
// Rule or addition of docs/protocol.md, the functions that carry it out (of
// Machine, where no type is named), and a test that shows it; "-" is an addition
// without a test of its own. The other tests of a rule bear its number.
//
//	1 | win, took, acknowledge, attempts.adoptable | TestRule1_CountsFromWhenTheCreateBegan
//	2 | claimed, deadline, claim.deadline, expire, sendStaged | TestRule2_CountsEveryAttemptSinceTheAcknowledgedRecord
//	3 | beatReceived, attempts.begunAbove, vouchReceived | TestRule3_NoVouchAfterBeginningToTakeOver
//	4 | takeOver, allowed, turn, take, found | TestRule4_RosterMemberAfterFence
//	5 | startRelay, renew | TestRule5_NoCreateBetweenWinningAndStarting
//	6 | holderSees, lose | TestRule6_AHigherRevStopsTheRelay
//	7 | leave, release, releaseDone, mayAdopt, setWill | TestRule7_ATenureThatTriedToReleaseNeverRunsAgain
//	8 | renew, renewDue, roster, firstRoster | TestRule8_AMemberIsLetInAfterTwoFencesUnbroken
//	9 | housekeep, sweepable | TestRule9_DeletesOnlyWhatAListingHasLongShownSuperseded
//	10 | lowerShare, checkShareOrder, peers.findClone | TestRule10_TheLowestShareWins
//	11 | nextEpoch, known.nextEpoch, digFor, dig | TestRule11_OneEpochPerTenure
//	A1 | startRelay, runway | TestRule5_KeepsTheRecordAndBeatsWhenTheDeadlineIsPast
//	A2 | rosterPlace | -
//	A3 | peers.findClone | TestRule10_TwoLiveRunsOfOneNode
//	A4 | Status, shareTrouble | TestStatus_HidesAShareThatDoesNotAnswer
//	A5 | takeOver | TestRule4_NeedsAFreshListingToWin
//	A6 | weigh, doubtResolved, consecutive | TestChainSeen_AChainThatWentOnIsFollowed
//	A7 | listed, patience, heardOfChain, chainNamed | TestChainSeen_NoneIsFoundedWhileOneGrowsElsewhere
//	A8 | heardOfLeader | TestRule10_ALeaderInAnotherFolderIsWaitedFor
//	A9 | unseen, shareTrouble, emptied | TestRule10_ARecordTheShareDoesNotShowMakesIneligible
//	A10 | following.fresh | TestRule3_AReplayedBeatChangesNothing
//	A11 | leave, beatRoster | TestRule7_ASilentShareDoesNotHoldUpTheHandoffForever
//	A12 | takersRoster | TestUrgency_ATakerByTTLLeavesOutTheSilentHolder
//	A13 | poll | TestLook_PollSlowsDownWhileGossipNamesALeader
//	A14 | found, founded | TestRule11_TwoMembersThatFoundTogetherShareOneChain
//	A15 | renewed | TestRule7_AStopDoesNotWaitForAChainThatIsGone
//	A16 | relayCrashed, crashes.failed | TestCrash_RestsNotIfNobodyElseIsEligible
//	A17 | crashes.tries, crashes.failed, crashes.inVain, crashes.rest, relayCrashed, failedLately | TestCrash_ThreeTimesHandsOverAndRests
package arbiter
