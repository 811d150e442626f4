package simnet

// Defects are deliberate breakages of what surrounds the machine: the guard and
// the last will. The checkers must catch each.
const (
	GuardToldLate = "guard-told-late-by-the-pipe" // acknowledged before it is applied
	NoGuard       = "no-guard"                    // nobody enforces the deadline
	NoKillMargin  = "guard-without-kill-margin"   // the tree takes thrice KILL_MARGIN to die
	WillAtHead    = "will-at-head"                // the last will goes to head+1
	BootsAlike    = "clones-share-a-boot-id"      // the boot id leaves the addresses out
	NoWatch       = "frozen-guard-unwatched"      // the daemon leaves a guard that stands still alone
	OfflineWins   = "offline-create-believed"     // a create in the Offline Files cache counts
	OfflineLists  = "offline-listing-believed"    // and so does a listing of it
	ThawedLate    = "thawed-guard-kills-late"     // a guard that stood still past its deadline allows itself a whole KILL_MARGIN more
	WillPastTip   = "will-past-tip"               // the last will goes over anything of its own run, begun under this guard or not
)

// Defects lists them.
var Defects = []string{GuardToldLate, NoGuard, NoKillMargin, WillAtHead, WillPastTip, BootsAlike, NoWatch, ThawedLate, OfflineWins, OfflineLists}
