// Package doctor finds out what keeps a PC from taking part: it looks at
// stk.ini, the share, the ports, the network and the relay program, and says of
// each whether it is right and what to do if not.
//
// Checks are independent, run at the same time and are bounded together: one
// that hangs becomes a failure that says so, and does not keep the others from
// being told. A new check is one more entry in Checks.
//
// What it does not do: it repairs nothing, and changes nothing but temporary
// files of its own in LEASE_DIR and STATE_DIR, which it removes again.
package doctor
