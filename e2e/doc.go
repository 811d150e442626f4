// Package e2e tests whole sites on one machine: every PC is a network namespace
// on a bridge, the file server another one with a real Samba, and what runs in
// them is the real program. Faults are made on the bridge, in the namespaces
// and with signals; nothing leaves the namespaces.
//
// The tests have the build tag e2e and need root and the packages samba,
// nftables and iproute2. They print one table of what every fault cost.
//
// All PCs share one kernel, hence one boot clock: times of different PCs can be
// compared exactly, which no real site can do. What is not in it: separate
// kernels, Windows, drift of clocks.
package e2e
