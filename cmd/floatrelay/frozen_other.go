//go:build !windows

package main

// endCommand ends a process that does not listen any more.
const endCommand = "kill -9 %d"
