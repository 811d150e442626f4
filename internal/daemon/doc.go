// Package daemon puts the parts of floatrelay together: it gives one arbiter
// its share, its gossip, its guard and its local API, and keeps what has to
// survive a restart in STATE_DIR.
//
// It decides nothing. Every decision is the arbiter's; what is here answers
// "who am I", "where is the share", "what do I tell the others", and passes
// events on. The share may hang for minutes: nothing in the start-up path waits
// for it.
package daemon
