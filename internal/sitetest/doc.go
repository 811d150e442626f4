// Package sitetest holds the tests of whole sites: real daemons, guards and
// relays on this machine, a folder as the share, and real faults. It has no
// code of its own.
//
// Every test ends by asking the relays' own life logs whether two of them ever
// lived at the same time. PROVE_RUNS sets how often each failover is
// tried (3 by default).
package sitetest
