package relayproc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func procPath(pid int, name string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + name
}

// stat is what /proc/<pid>/stat tells us.
type stat struct {
	comm  string
	state byte
	ppid  int
	pgid  int
	start uint64 // clock ticks since boot
}

// readStat parses from the last ')', because a program may be called anything.
func readStat(pid int) (stat, bool) {
	body, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return stat{}, false
	}
	open, end := bytes.IndexByte(body, '('), bytes.LastIndexByte(body, ')')
	if open < 0 || end < open {
		return stat{}, false
	}
	f := strings.Fields(string(body[end+1:]))
	if len(f) < 20 {
		return stat{}, false
	}
	s := stat{comm: string(body[open+1 : end]), state: f[0][0]}
	s.ppid, _ = strconv.Atoi(f[1])
	s.pgid, _ = strconv.Atoi(f[2])
	s.start, _ = strconv.ParseUint(f[19], 10, 64)
	return s, true
}

// dead reports states in which nothing runs any more.
func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// lookup identifies a living process; zombies do not count.
func lookup(pid int) (process, bool) {
	s, ok := readStat(pid)
	if !ok || s.dead() {
		return process{}, false
	}
	return process{PID: pid, Start: s.start, Exe: program(pid)}, true
}

// program is the path of the executable, or the short name if that is hidden.
func program(pid int) string {
	if exe, err := os.Readlink(procPath(pid, "exe")); err == nil {
		return strings.TrimSuffix(exe, " (deleted)")
	}
	s, _ := readStat(pid)
	return s.comm
}

// pids lists the processes of the host.
func pids() []int {
	names, _ := filepath.Glob("/proc/[0-9]*")
	out := make([]int, 0, len(names))
	for _, n := range names {
		if pid, err := strconv.Atoi(n[len("/proc/"):]); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// processesOf lists the living processes whose program is exe.
func processesOf(exe string) []process {
	exe = realPath(exe)
	var out []process
	for _, pid := range pids() {
		if program, err := os.Readlink(procPath(pid, "exe")); err != nil || !sameProgram(strings.TrimSuffix(program, " (deleted)"), exe) {
			continue
		}
		if p, ok := lookup(pid); ok && sameProgram(p.Exe, exe) {
			out = append(out, p)
		}
	}
	return out
}

// descendants returns root and every process below it, parents first.
func descendants(root int) []int {
	children := map[int][]int{}
	for _, pid := range pids() {
		if s, ok := readStat(pid); ok && !s.dead() {
			children[s.ppid] = append(children[s.ppid], pid)
		}
	}
	out := []int{root}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}

// descendsFrom reports whether pid is root or has it as an ancestor.
func descendsFrom(pid, root int) bool {
	for range 64 {
		if pid == root {
			return true
		}
		s, ok := readStat(pid)
		if !ok || s.ppid <= 0 {
			return false
		}
		pid = s.ppid
	}
	return false
}

// ancestors returns the living parents of pid, nearest first.
func ancestors(pid int) []int {
	var out []int
	for range 64 {
		s, ok := readStat(pid)
		if !ok || s.ppid <= 0 {
			break
		}
		pid = s.ppid
		out = append(out, pid)
	}
	return out
}

func bootID() string {
	body, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(body))
}

// killProcess kills exactly p: the pidfd keeps the pid from being reused
// between the look and the kill.
func killProcess(p process) error {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		if err == unix.ESRCH {
			return os.ErrProcessDone
		}
		return err
	}
	defer unix.Close(fd)
	if now, ok := lookup(p.PID); !ok || now != p {
		return os.ErrProcessDone
	}
	err = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	if err == unix.ESRCH {
		return os.ErrProcessDone
	}
	return err
}
