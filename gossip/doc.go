// Package gossip is the members' fast, untrusted nervous system: who is alive,
// what each says of itself, beats from the leader, vouches back to it, and the
// one connection by which a member notices that the leader's daemon ended.
//
// It wraps hashicorp/memberlist over UDP and TCP on one port and adds what that
// library leaves out: keys derived from the site's token and KMSN, rotation of
// the token without a split, a member table that remembers PCs that are off,
// rejoining after a long partition, metadata that cannot overflow, and an
// address choice that never picks a virtual switch.
//
// What it does not guarantee: anything about who may run the relay. A message
// may be lost, late, repeated or replayed; a member shown alive may be dead and
// the other way round. Everything here may make a takeover faster, nothing here
// makes one allowed.
//
// memberlist calls back with its own lock held. The callbacks only copy into
// the table and into a bounded queue; the Handler is called later, by one
// goroutine, with no lock held.
package gossip
