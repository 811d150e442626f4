//go:build !linux && !windows

package procs

import (
	"os"
	"syscall"
)

// Freeze stops a process until Resume.
func Freeze(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// Resume lets a frozen process go on.
func Resume(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }

// Ask asks a process to end in an orderly way.
func Ask(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }

func childrenOf() map[int][]int { _ = os.Getpid(); return nil }
