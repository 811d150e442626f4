package arbiter

// mutant names a deliberate breakage of one rule. The checker that guards this
// package must be able to fail, so builds with the tag "mutants" can switch one
// of these on; every other build compiles broken to a constant false.
type mutant uint8

const (
	sane               mutant = iota
	fenceShort                // rule 4: FENCE instead of FENCE'
	ttlShort                  // rule 4: TTL instead of TTL'
	noDrift                   // x' = x + 20 ms: no allowance for clock rates
	countFromAck              // rule 1: C is when the create was acknowledged
	vouchFromReceipt          // rule 2: V is when the vouch arrived
	rosterShrunkEarly         // rule 2: the newest attempt's roster replaces the acknowledged one
	forgottenAttempt          // rule 2: attempts since the acknowledgement do not count
	guardToldLate             // rule 2: a shortening create does not wait for the guard
	noKillMargin              // rule 2: KILL_MARGIN not subtracted
	expiredResumes            // rule 2 and 3: a passed deadline is forgotten, and a taker still vouches
	vouchWhileTaking          // rule 3: vouches although it has begun a create
	beatForListing            // rule 4: a beat counts as a listing
	housekeepEarly            // rule 9: superseded records go at once
	releaseAtHead             // rule 7: a release goes to head+1
	releaseResumed            // rule 7: the tenure goes on after a release was attempted
	adoptLaterC               // rule 1: adoption counts from the last attempt
	adoptReleased             // rule 1: a released body is adopted as well
	ownTTLForUnknown          // rule 4: an unknown record is given our own TTL
	runIgnored                // node compared without run
	shareIgnored              // rule 10: share ids not compared
	createBetween             // rule 5: a create begins between winning and starting
	vouchTenureIgnored        // rule 3: any older beat is vouched for
	lostGuardByOp             // rule 7: after a lost guard any newer record lets the relay start
	missingWithBreaks         // rule 4: two sights of no chain count as one, whatever lay between
	noDigging                 // rule 11: the epoch is reckoned without looking below an unreadable head
	gossipForgotten           // rule 4: a chain that only gossip has named does not restart the wait
	firstPreemptor            // the first preemptor that is stable gets the lease, not the best
	startInVain               // crash policy: only failures are counted, not the time without a relay
	foundsBeside              // rule 4: a chain is founded although one grows in another folder
	failuresForgotten         // crash policy: a PC whose relay failed is as good a successor as any
	mutants
)

// String returns the mutant's name as used by make mutants.
func (x mutant) String() string {
	return [...]string{
		"sane", "fence-short", "ttl-short", "no-drift", "c-from-ack", "vouch-from-receipt",
		"roster-shrunk-early", "forgotten-attempt", "guard-told-late", "no-kill-margin",
		"expired-resumes", "vouch-while-taking", "beat-for-listing", "housekeep-early", "release-at-head",
		"release-resumed", "adopt-later-c", "adopt-released", "own-ttl-for-unknown",
		"run-ignored", "share-ignored", "create-between", "vouch-tenure-ignored",
		"lost-guard-by-op", "missing-with-breaks", "no-digging",
		"gossip-chain-forgotten", "first-preemptor", "start-in-vain", "founds-beside", "failures-forgotten",
	}[x]
}
