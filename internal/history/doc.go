// Package history remembers what happened on this PC: the newest Limit events,
// with reasons and durations, in one bounded file in STATE_DIR.
//
// The file has one JSON object per line. Lines are appended; a file that has
// grown to twice the limit is written anew. A power cut may tear the last line
// or leave NULs: whatever is no event is skipped, nothing else is lost. It is
// for people and decides nothing, so a file that cannot be written costs the
// history and no more.
package history
