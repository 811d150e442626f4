// Package simnet is a simulated site that looks for a way to run two relays.
//
// A World is a deterministic discrete-event simulation: one to eight hosts run
// the real arbiter.Machine with the real record codec, on a simulated network,
// share, clocks, guards and relay processes. Everything random comes from one
// seed (PCG); everything that happens is taken off one queue ordered by time and
// then by order of scheduling; nothing ranges over a map. So a seed is a world:
// the same seed gives the same trace, byte for byte, and a failure prints the
// seed, the options it expands into, the broken promise and the last lines.
//
//	go test ./simnet -run TestSearch                          # many worlds
//	go test ./simnet -run TestSearch -sim.mode=sleep -sim.seed=92 -sim.trace
//	go test -tags mutants ./simnet -run TestMutants           # can it fail? (builds each mutant)
//
// # What goes wrong in it
//
// Links: latency, loss, duplicates, packets that turn up again a minute later,
// overtaking, one-way cuts, any partition; packets wait in the socket of a
// sleeping process until its buffer is full, and are read when it wakes.
//
// The share: latency from microseconds to many FENCE, stalls, cuts per host,
// requests carried out long after the caller was told that the outcome is
// unknown, acknowledgements lost, names created whose body never follows, follows
// late or stays half a body, listings 10 s old, "not found" 5 s old, the folder wiped,
// or another, empty one behind the LEASE_DIR of one PC.
// Reliable is one thing only, as on SMB: an exclusive create is decided once.
//
// Processes: a daemon is killed, freezes alone while its guard lives on,
// freezes with its whole host, freezes between deciding and calling or between
// any two actions of one decision; hosts lose power and boot with another clock
// and boot id; guards die, or take their daemon for dead; relays crash, start
// slowly, never become ready, on some hosts whatever heals. A tree takes up to exactly KILL_MARGIN to die.
//
// Clocks: every host counts boot time from another origin and up to 0.5 % fast
// or slow, often both extremes in one world. Members may have different TTL,
// FENCE and BEAT, and change them when they start again.
//
// Identity: cloned PCs, members with another token, a token that is changed PC by
// PC, wall clocks that jump, PCs that answer from an offline copy of the folder,
// preemption.
//
// People: handoffs, graceful stops, drained members, all daemons restarted at once
// or one after the other, members that join late and leave for long, a LEASE_DIR
// that points half of the station to another folder.
//
// Each seed switches off half of the kinds of fault, and aims the others more or
// less at whoever leads: a world with a few kinds of trouble reaches corners
// that a world with all of them tramples over. Modes concentrate on one kind.
//
// # What is checked
//
// The checker knows the truth (what was really created and when, which vouches
// really left) and never asks a machine what it believes. At every event:
//
//   - never two: at most one relay tree executes. Excepted, measured and
//     reported apart: a host that slept past its deadline runs its relay for at
//     most KILL_MARGIN after waking.
//   - rule 2: the deadline that a guard applies is never later than the true
//     records and vouches allow, also while a record that shortens it is begun.
//   - rule 5 and 7: no create between winning and starting; nothing runs once a
//     release was begun.
//   - taken early: nobody gets a record while the relay of another runs that has
//     not just woken past its deadline. A healthy leader loses nothing.
//   - rev: no record is counted on by two holders.
//   - epoch: along a chain epochs never fall, and no epoch is the tenure of two
//     runs. In a new chain after a wipe that is best effort, and counted.
//   - lanes and actions: one operation per lane, growing operation, generation
//     and beat numbers, own records only, no second tree on a host.
//   - livelock: ticks and creates per second are bounded.
//
// After the faults a world heals, and must show exactly one relay within
// TTL_MAX' + POLL + 2 s (2 s more if a chain has to be founded), and no change
// for a minute, after which that relay is ready (where hosts have no working relay,
// each gets a minute more to notice). Failover worlds demand FENCE' + BEAT + 1 s after a leader's host
// dies; Noise worlds that weather alone changes nothing. Scripts tell named
// partitions as stories that a person can read, in testdata.
//
// That the checkers can fail is shown by mutants: the machine with one rule
// broken by a patch of testdata/mutants, in a build of its own, or the world with
// a faulty guard (Defects). testdata/mutants.txt names the world
// that catches it, tales_test.go the scripts that do; the same worlds without the
// mutant keep every promise.
//
// # What is assumed, and what is not covered
//
// Gossip is simulated by its effect (who is called dead or alive, and when), not
// by its messages. Exclusive creation is atomic on the server. A virtual machine
// paused from outside, whose boot time stops as well, a restored backup of the
// folder, and a folder wiped twice within a minute are documented exceptions and
// not part of the search (the backup and the second wipe have tests of their own).
// A site that starts without a chain counts as wiped once: worlds of that kind whose
// folder is wiped within their first minute belong to the exception. A guard
// and its daemon frozen together count as a frozen host. Wall clocks appear only
// in a field nobody reads. Nothing here runs the driver, the real guard, a real
// file system or memberlist; other tests do.
package simnet
