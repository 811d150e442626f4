package relayproc

import "time"

// tree is the relay with everything it ever started, as the guard handles it.
// None of the methods waits. startTree (one per system) returns at once and
// reports over its channel.
type tree interface {
	// ask asks the tree to end by itself, once; kill follows if it does not.
	// An error means that it cannot be asked.
	ask() error
	// kill ends every process. It is repeated until treeDead, which on a
	// system without a better way is what makes it complete.
	kill()
	// hold tells whoever holds the tree besides the guard the boot time at which
	// it has to end by itself, if there is somebody.
	hold(until time.Duration)
	// owns reports whether a process belongs to the tree.
	owns(pid int) bool
	// members returns the processes of the tree, the one first whose end means
	// the end of all, if there is such a one.
	members() []int
}

type treeKind uint8

const (
	treeForked   treeKind = iota // the holder runs: pid
	treeStarted                  // the relay's first process runs: pid
	treeExited                   // the relay's first process ended by itself: note
	treeFailed                   // it could not be started: note
	treeOrphaned                 // who held it together is dead, some of it may live: kill it
	treeDead                     // no process is left
)

// treeEvent is something that happened to the tree. treeDead is the last one
// and always comes, unless the process cannot be killed.
type treeEvent struct {
	kind treeKind
	pid  int
	note string
}

// treeQueue is the capacity a tree's channel must have: more than the events a
// tree sends in its life, so that it never waits for the guard.
const treeQueue = 8
