package procs

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Freeze stops a process until Resume.
func Freeze(pid int) error { return unix.Kill(pid, unix.SIGSTOP) }

// Resume lets a frozen process go on.
func Resume(pid int) error { return unix.Kill(pid, unix.SIGCONT) }

// Ask asks a process to end in an orderly way.
func Ask(pid int) error { return unix.Kill(pid, unix.SIGTERM) }

func childrenOf() map[int][]int {
	out := map[int][]int{}
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + d.Name() + "/stat")
		if err != nil {
			continue
		}
		// The program's name, in parentheses, may hold anything.
		rest := string(b[bytes.LastIndexByte(b, ')')+1:])
		if f := strings.Fields(rest); len(f) > 1 && f[0] != "Z" {
			ppid, _ := strconv.Atoi(f[1])
			out[ppid] = append(out[ppid], pid)
		}
	}
	return out
}
