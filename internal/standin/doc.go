// Package standin is the stand-in relay: a small star relay used by the demo
// and the tests where the real relay_server.exe is not at hand. It says of
// itself that it is a stand-in and is not meant to carry a site.
//
// It listens on RELAY_PORT and RELAY_PORT+1. A client sends a hello with its
// KMSN and STATION, gets a hello back that carries the relay's epoch, and from
// then on every frame it sends goes to the other clients of the same KMSN on
// that port. A frame is a four-byte big-endian length and that many bytes of
// JSON.
//
// It can be told to misbehave in the ways real relays do (see Config), and to
// write a log of its life in boot time, from which overlaps of two relays are
// measured without trusting connects: a stopped process still "accepts".
package standin
