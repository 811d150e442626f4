package relayproc

// RunInit is not used on Windows, where a job object does what a PID namespace
// does on Linux.
func RunInit([]string) int { return CodeSpec }
