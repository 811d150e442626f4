// Package relayproc owns the relay process: it starts it, bounds its life and
// sees to it that nothing of it survives.
//
// Three processes take part. The daemon calls Start, which starts the guard
// (the hidden command `floatrelay guard`, body RunGuard), which starts the
// relay. The guard has one duty: the relay's whole process tree is dead soon
// after the deadline the daemon last wrote to it, or as soon as the daemon is
// gone. It therefore never waits for anything outside itself in the loop that
// watches the deadline, and looks at boot time first on every wake.
//
// On Linux the tree is a PID namespace whose init is this binary once more (the
// hidden command `floatrelay guard-init`, body RunInit): when that init dies
// the kernel kills everything in the namespace, double-forked grandchildren
// included. Where namespaces are not permitted, a supervisor adopts orphans
// and kills by cgroup, process group and a walk of /proc. On Windows the tree
// is a job object that ends with its last handle, which only the guard has.
//
// On Linux the kernel holds the deadline besides: a timer on boot time that kills
// the guard, stopped or not, shortly after it, and with the guard goes the
// namespace. A supervisor has such a timer too.
//
// If the guard itself dies, the kernel ends the tree; if it freezes, the daemon
// ends guard and tree. Health pings run in the daemon, so that no network call
// can ever delay the guard; the guard only answers whether a process belongs to
// its tree.
//
// What is not guaranteed: on Windows a guard and a daemon that are both stopped
// keep nobody from running; without namespaces, if the supervisor is stopped too,
// only the relay's first process ends; a relay that hands its listening
// socket to a process outside its tree is not followed there; and without
// namespaces a relay that wipes its environment while guard and supervisor are
// killed in the same instant can escape.
package relayproc
