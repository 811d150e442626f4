package reason

// Note is a text that has no code of its own, such as the note of a member of an
// earlier version. Its Detail is shown as it is.
const Note Code = "note"

// Why this PC may not lead.
const (
	Starting       Code = "starting"
	Stopping       Code = "stopping"
	RelayResting   Code = "relay-resting"   // Detail: how the relay failed last
	RelayLate      Code = "relay-late"      // the same, after one that was not ready before its deadline
	PriorityZero   Code = "priority-zero"   // RELAY_PRIORITY is 0
	EarlierRelay   Code = "earlier-relay"   // a relay of an earlier run is still being stopped
	EarlierUnknown Code = "earlier-unknown" // Path, Detail: guard.lock cannot be looked at
	Drained        Code = "drained"

	ShareUnasked   Code = "share-unasked"   // it has not answered yet
	ShareUnchecked Code = "share-unchecked" // creating was not tested yet
	ShareSilent    Code = "share-silent"    // no answer for TTL_MAX
	ShareDenied    Code = "share-denied"    // creating a record was denied
	ChainRefused   Code = "chain-refused"   // reading the chain was denied
	ShareFull      Code = "share-full"      // Path
	ShareProbe     Code = "share-probe"     // Detail: why no file could be created
	ShareReadOnly  Code = "share-read-only" // the same, refused: rights
	NotExclusive   Code = "not-exclusive"   // Count of Of won one race

	RecordUnseen    Code = "record-unseen"     // Rev is on the others' share and not on ours
	RecordForeign   Code = "record-foreign"    // Found and Want: KMSN
	RecordNewer     Code = "record-newer"      // Found and Want: format version
	CloneRuns       Code = "clone"             // Station, Addr, Own, OwnAddr
	LowerShare      Code = "lower-share"       // Station, Addr, Share, OwnShare
	NoChainHere     Code = "no-chain-here"     // Station, Addr, Share
	RelayExeUnset   Code = "relay-exe-unset"   // RELAY_EXE
	RelayExeMissing Code = "relay-exe-missing" // Path
	RelayExeUnfit   Code = "relay-exe-unfit"   // Path, Detail
	PortHeld        Code = "port-held"         // Port, Detail: the holder
	PortReserved    Code = "port-reserved"     // Detail
	AddressLeft     Code = "address-left"      // Addr, Detail: why no other one was chosen
	AddressForeign  Code = "address-foreign"   // Addr: told to the others, and none of this PC's
	RelayStranger   Code = "relay-stranger"    // Detail: the process, Count: how many more
)

// What is odd and no reason not to lead.
const (
	RecordEmpty      Code = "record-empty"       // Rev, Path
	RecordDamaged    Code = "record-damaged"     // Rev, Path, Detail
	RecordOtherToken Code = "record-other-token" // Rev, Station
	RecordIrregular  Code = "record-irregular"   // Rev, Detail: what bears its name
	NoAPI            Code = "no-api"             // Addr: of API_ADDR
	FolderGone       Code = "folder-gone"
	FolderOther      Code = "folder-other"  // Station, Addr
	RelayFailing     Code = "relay-failing" // Count, At, Detail, Next
	TokenDiffers     Code = "token-differs" // Detail: who; Found and Want: fingerprints there and here
	TokenUnknown     Code = "token-unknown" // Detail: who; Want: fingerprint here
	TokensDiffer     Code = "tokens-differ" // Detail: who, with fingerprints; Want: fingerprint here
	TokenDiffersThat Code = "its-token-differs"
	StationTwice     Code = "station-twice" // Detail: addresses of the others
	LastSeen         Code = "last-seen"     // ForMS: how long ago
)

// What happened.
const (
	RoleIs        Code = "role"         // Role
	RoleFollows   Code = "role-follows" // Role, Station
	RoleOwnLease  Code = "role-own"     // Role: the newest lease was its own
	TookLease     Code = "took-lease"   // Rev, Epoch, How; ForMS since the last beat, 0 if none was heard
	ReleasedLease Code = "released-lease"
	HandingOver   Code = "handing-over" // How

	HandoffNobody      Code = "handoff-nobody"      // How
	HandoffUnfit       Code = "handoff-unfit"       // Found: the member
	HandoffUnconfirmed Code = "handoff-unconfirmed" // How
	LeadsIneligible    Code = "leads-ineligible"

	EndedByShare     Code = "ended-by-share"     // neither share nor roster within FENCE
	EndedByVouches   Code = "ended-by-vouches"   // a member stopped vouching
	EndedByTTL       Code = "ended-by-ttl"       // not written within TTL
	EndedUnstarted   Code = "ended-unstarted"    // before the relay could be started
	EndedUnreleased  Code = "ended-unreleased"   // the release could not be written
	EndedFolderGone  Code = "ended-folder-gone"  // nothing to release
	EndedByOther     Code = "ended-by-other"     // Rev, Station
	EndedByUnknown   Code = "ended-by-unknown"   // Rev
	EndedLowerShare  Code = "ended-lower-share"  // Station, Addr, Share, OwnShare
	EndedByItsGuard  Code = "ended-by-guard"     // killed at its deadline
	RecordUnwritable Code = "record-unwritable"  // Rev, Detail
	GenesisRefused   Code = "genesis-unwritable" // Detail
	ChainFounding    Code = "chain-founding"     // Share, Rev
	ChainReplaced    Code = "chain-replaced"     // Share, OwnShare: the old one
	RecordIgnored    Code = "record-implausible" // Rev, Of, Found: newest readable, Path
	ChainUnreadable  Code = "chain-unreadable"   // Detail
	APIClosed        Code = "api-closed"         // Detail
	APIOpen          Code = "api-open"           // Addr
	SweepFails       Code = "sweep-fails"        // How
	NamesIgnored     Code = "names-ignored"      // Detail
	ViewFails        Code = "view-fails"         // Detail
	ViewBack         Code = "view-back"
	RenewalFails     Code = "renewal-fails" // How
	RenewalNoFolder  Code = "renewal-no-folder"
	RenewalBack      Code = "renewal-back"
	SpaceBack        Code = "space-back"
	ShareIsFull      Code = "space-gone" // Path

	RelayStarted    Code = "relay-started" // PID
	RelayReady      Code = "relay-ready"   // PID, Epoch
	RelayWaits      Code = "relay-waits"   // Detail
	RelaySilent     Code = "relay-silent"  // Detail
	RelayEnded      Code = "relay-ended"   // How, Detail
	RelayUnready    Code = "relay-unready" // ForMS: for how long none was ready; Of: pause in seconds
	RelayCrashes    Code = "relay-crashes" // Count, none of which ran for ForMS; Of: pause in seconds
	GuardDied       Code = "guard-died"    // Detail
	AddressChanged  Code = "address-changed"
	RoleChanged     Code = "role-changed" // Role, Found: the role before
	LeaseHeld       Code = "lease-held"   // Station, Epoch, How
	LeaseMoved      Code = "lease-moved"  // the same; Found: the station that had it
	LeaseGiven      Code = "lease-given"  // Station, How
	RelayUp         Code = "relay-up"     // PID
	RelayIsStopped  Code = "relay-stopping"
	RelayIsDown     Code = "relay-down"
	TokensAgree     Code = "tokens-agree"
	StationConflict Code = "station-conflict" // Station, Detail: addresses
)

// Codes are all codes, each once.
func Codes() []Code {
	return []Code{
		Note,
		Starting, Stopping, RelayResting, RelayLate, PriorityZero, EarlierRelay, EarlierUnknown, Drained,
		ShareUnasked, ShareUnchecked, ShareSilent, ShareDenied, ChainRefused, ShareFull, ShareProbe, ShareReadOnly, NotExclusive,
		RecordUnseen, RecordForeign, RecordNewer, CloneRuns, LowerShare, NoChainHere,
		RelayExeUnset, RelayExeMissing, RelayExeUnfit, PortHeld, PortReserved, AddressLeft, AddressForeign, RelayStranger,
		RecordEmpty, RecordDamaged, RecordOtherToken, RecordIrregular, NoAPI, FolderGone, FolderOther, RelayFailing,
		TokenDiffers, TokenUnknown, TokensDiffer, TokenDiffersThat, StationTwice, LastSeen,
		RoleIs, RoleFollows, RoleOwnLease, TookLease, ReleasedLease, HandingOver,
		HandoffNobody, HandoffUnfit, HandoffUnconfirmed, LeadsIneligible,
		EndedByShare, EndedByVouches, EndedByTTL, EndedUnstarted, EndedUnreleased, EndedFolderGone,
		EndedByOther, EndedByUnknown, EndedLowerShare, EndedByItsGuard,
		RecordUnwritable, GenesisRefused, ChainFounding, ChainReplaced, RecordIgnored, ChainUnreadable, APIClosed, APIOpen, SweepFails, NamesIgnored,
		ViewFails, ViewBack, RenewalFails, RenewalNoFolder, RenewalBack, SpaceBack, ShareIsFull,
		RelayStarted, RelayReady, RelayWaits, RelaySilent, RelayEnded, RelayUnready, RelayCrashes, GuardDied,
		AddressChanged, RoleChanged, LeaseHeld, LeaseMoved, LeaseGiven, RelayUp, RelayIsStopped, RelayIsDown,
		TokensAgree, StationConflict,
	}
}
