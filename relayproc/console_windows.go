package relayproc

var allocConsole = kernel32.NewProc("AllocConsole")

// ensureConsole gives the guard a console if it has none: Ctrl-Break travels
// over one, and a service has none. It fails harmlessly if there is one.
func ensureConsole() { allocConsole.Call() }
