package relayproc

import (
	"os"
	"os/signal"
)

// shieldFromConsole makes the guard deaf to what is sent to the whole console
// or session while the daemon still lives, and keeps a closed stdout from
// killing it. It catches instead of ignoring: an ignored signal would be
// inherited by the relay, which then could not be asked to end.
func shieldFromConsole() (restore func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, shielded...)
	return func() { signal.Stop(c) }
}
