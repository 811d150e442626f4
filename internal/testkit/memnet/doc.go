// Package memnet is an in-memory network for gossip.Transport with latency,
// loss, cuts, killed processes and hosts without power. Everything in it waits
// on channels and timers only, so that it runs on the virtual clock of a
// testing/synctest bubble; memberlist's own mock blocks there.
//
// Packets may be lost and overtake each other. Streams are reliable: a cut
// holds their data back until it heals, as TCP's retransmission does, and a
// killed process resets them, as the system does. What it does not model:
// bandwidth, and the time at which a real TCP gives up.
package memnet
