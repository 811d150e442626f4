package service

import "context"

// Level of a line for the event log.
type Level uint8

// The levels.
const (
	Info Level = iota
	Warning
	Error
)

// Journal writes a line to the system's event log. It may be called at any
// time and does not fail.
type Journal func(level Level, text string)

// Program is what runs as a service.
type Program struct {
	// Run lives until ctx ends, then hands over and returns. An error, or a
	// return before that, is a failure.
	Run func(ctx context.Context, journal Journal) error
	// Suspend is told that the PC is about to sleep; it has about two seconds.
	// Nil means nobody cares.
	Suspend func()
}
