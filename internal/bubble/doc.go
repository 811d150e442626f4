// Package bubble holds tests only: whole stations of 2 to 200 members in one
// process, on the virtual clock of testing/synctest.
//
// Everything that talks is real: memberlist and the whole of package gossip
// over an in-memory network, arbiter.Driver with its workers, lease.Chain and
// its codec. Only what is below is made up: the network (gossip/memnet), the
// file server (a map), the clocks (each runs fast or slow by up to half a
// percent) and the guard with its relay (a goroutine that keeps to the guard's
// contract, kill latency included).
//
// It stands between simnet, which searches the protocol's corners with a
// deterministic model of the network, and the tests of whole sites, which run
// the real binary in real time. Since memberlist draws random numbers of its
// own, no two runs are alike: the tests assert bounds and invariants, above all
// that no two relays ever live at once.
//
// With -bubble.scale the table of docs/scale.md is measured.
package bubble
