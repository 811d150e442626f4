//go:build !windows

package relayproc

func ensureConsole() {}
