// Package forward leads the programs of this PC to the site's relay: a program
// connects to a port of 127.0.0.1, once and for all, and reaches the relay
// wherever it is.
//
// A Forwarder carries bytes and understands nothing. It follows the view of the
// leader that Follow gives it and decides nothing. While nobody leads, or the
// relay does not accept connections yet, a new connection is held instead of
// refused. When the relay moves, open connections end at once, so that programs
// reconnect by their own habit. With a fallback, programs that were held too long
// reach that one, until the site has a relay again.
//
// Limits. A program that closes, also half-way, while it is held has given up:
// nothing of what it sent reaches the relay. Bytes that were under way when a
// connection ended are lost, as they are without a forwarder. When this PC's
// daemon ends, its programs lose their connections too.
package forward
