//go:build !windows

package wine

// Running is false: only a Windows program can run under wine.
func Running() bool { return false }
