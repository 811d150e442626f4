package relayproc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

const lookAccess = windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.SYNCHRONIZE

// lookup identifies a living process.
func lookup(pid int) (process, bool) {
	h, err := windows.OpenProcess(lookAccess, false, uint32(pid))
	if err != nil {
		return process{}, false
	}
	defer windows.CloseHandle(h)
	return identify(h, pid)
}

func identify(h windows.Handle, pid int) (process, bool) {
	if !running(h) {
		return process{}, false
	}
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) != nil {
		return process{}, false
	}
	start := uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
	return process{PID: pid, Start: start, Exe: image(h)}, true
}

func running(h windows.Handle) bool {
	ev, err := windows.WaitForSingleObject(h, 0)
	return err == nil && ev == uint32(windows.WAIT_TIMEOUT)
}

func image(h windows.Handle) string {
	buf := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(buf))
	if windows.QueryFullProcessImageName(h, 0, &buf[0], &n) != nil {
		return ""
	}
	return windows.UTF16ToString(buf[:n])
}

// program is the path of the executable, or empty if it is hidden.
func program(pid int) string {
	p, _ := lookup(pid)
	return p.Exe
}

// parents maps every process to the one that started it.
func parents() map[int]int {
	out := map[int]int{}
	eachProcess(func(e *windows.ProcessEntry32) { out[int(e.ProcessID)] = int(e.ParentProcessID) })
	return out
}

// processesOf lists the living processes whose program is exe. Only those with its
// file name are opened.
func processesOf(exe string) []process {
	exe = realPath(exe)
	var out []process
	eachProcess(func(e *windows.ProcessEntry32) {
		if !strings.EqualFold(windows.UTF16ToString(e.ExeFile[:]), filepath.Base(exe)) {
			return
		}
		if p, ok := lookup(int(e.ProcessID)); ok && sameProgram(p.Exe, exe) {
			out = append(out, p)
		}
	})
	return out
}

func eachProcess(do func(*windows.ProcessEntry32)) {
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return
	}
	defer windows.CloseHandle(snap)
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snap, &e); err == nil; err = windows.Process32Next(snap, &e) {
		do(&e)
	}
}

// ancestors returns the living parents of pid, nearest first. A parent younger
// than its child is a stranger that got the dead parent's pid.
func ancestors(pid int) []int {
	above := parents()
	var out []int
	for range 64 {
		child, ok := lookup(pid)
		pid = above[pid]
		parent, ok2 := lookup(pid)
		if !ok || !ok2 || parent.Start > child.Start {
			break
		}
		out = append(out, pid)
	}
	return out
}

// bootID is empty: a creation time never comes twice, whatever the boot.
func bootID() string { return "" }

// killProcess kills exactly p: the handle keeps the pid from being reused
// between the look and the kill.
func killProcess(p process) error {
	h, err := windows.OpenProcess(lookAccess|windows.PROCESS_TERMINATE, false, uint32(p.PID))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return os.ErrProcessDone
	}
	if err != nil {
		return fmt.Errorf("open process: %w", err)
	}
	defer windows.CloseHandle(h)
	if now, ok := identify(h, p.PID); !ok || now != p {
		return os.ErrProcessDone
	}
	return windows.TerminateProcess(h, killedCode)
}
