// Package procs stops, freezes and ends processes of the demo and the tests,
// alone or with everything below them, the way a power cut or a hung PC would. It
// also says how a process of ours uses the PC's threads.
package procs

import "os"

// Kill ends one process at once. A process that is gone is no error.
func Kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// PowerCut ends a process and everything below it as nearly at once as the
// system allows: all are frozen first, so that none can react to the death of
// another.
func PowerCut(pid int) {
	all := Tree(pid)
	for _, p := range all {
		_ = Freeze(p)
	}
	for _, p := range Tree(pid) { // what was born meanwhile
		Kill(p)
	}
	for _, p := range all {
		Kill(p)
	}
}

// Tree returns pid and all its descendants.
func Tree(pid int) []int {
	children := childrenOf()
	out := []int{pid}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}
