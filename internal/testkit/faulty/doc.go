// Package faulty wraps a lease.Share with faults that tests choose: delays,
// stalls, refusals, lost acknowledgements, changes applied late, bodies not
// written. Injectors compose, and each prints itself, so that a failing test
// can say which faults were in force.
//
// It is deterministic as far as its caller is: nothing is random, and waiting
// uses the time package, so that it runs inside testing/synctest bubbles.
package faulty
