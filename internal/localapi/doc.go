// Package localapi is the daemon's window for this PC: HTTP on a loopback
// address, JSON in and out, and the client the command line uses.
//
// It owns the JSON shapes that scripts rely on. It decides nothing: what it
// shows comes from a Source, and what changes something (handoff, drain) is
// handed to the Source after the bearer was checked.
//
// What it does not guarantee: secrecy from other accounts of this PC. Whoever
// can open a loopback connection may read; only who knows the site's token may
// change anything.
package localapi
