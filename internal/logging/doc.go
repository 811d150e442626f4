// Package logging makes the daemon's logger: one line per entry, valid UTF-8,
// bounded in every direction, and never in the way of a renewal.
//
// A write only copies the line into a queue. A console whose user is marking
// text, a pipe nobody reads or a disk that hangs therefore blocks a goroutine
// of this package and nothing else; what does not fit the queue is dropped and
// counted, and the count is written as soon as the sink takes lines again.
//
// What it does not guarantee: that every line gets written. Close waits for the
// queue for a bounded time only, and a write stuck in the system keeps its
// goroutine until the process ends.
package logging
