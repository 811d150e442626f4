// Package lease keeps the chain of records on a share that decides who may run
// the relay.
//
// A record is created exclusively and never changed. Renewing a lease and
// taking it over are the same operation, creating the next revision, so the
// share itself decides every race; no lock is broken, no clock is compared, and
// no stale read can mislead. The package owns the format of a record (JSON with
// a MAC), the layout of LEASE_DIR, and the backends that reach it. It decides
// nothing: when a create is allowed is the arbiter's business.
//
// Record, Entry and Codec are the format; Chain is the layout of records,
// members' files and the published view on a Share; NewDir is the Share in a
// folder. Package sharetest holds the contract every Share must keep, package
// faulty wraps one with faults for tests.
//
// The path of LEASE_DIR may hold links. Below it no backend follows one or opens
// anything but a regular file (ErrIrregular), and Chain removes nothing but names
// that it builds.
//
// What it does not guarantee: that a share without an exclusive create (some
// FUSE mounts, offline copies) is noticed by the first call, or that a record
// reflects a relay that runs. A record is a claim; its deadline is enforced by
// the holder's guard. No context interrupts a system call that hangs on a
// folder. A Linux mount point whose mount is gone is an empty folder and looks
// like a share without a chain: LEASE_DIR should be a folder inside the mount.
package lease
