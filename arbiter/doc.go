// Package arbiter decides who may run the relay.
//
// Machine is the decision: a pure state machine, Step(now, Event) []Action,
// without goroutines, I/O, clocks or randomness of its own. Driver is the thin
// shell that owns the one Machine of a daemon, carries its actions out in
// workers and feeds results back as events. The same Machine runs in
// production, in simnet's simulated worlds and in the scenario tests.
//
// The rules it follows are those of docs/protocol.md and are named in the code
// by their number. They look redundant and are not.
//
// What it does not guarantee: that somebody leads. With the share gone nobody
// may start a relay, and with both the share and the LAN gone the running one
// stops.
package arbiter
