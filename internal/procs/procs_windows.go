package procs

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	ntdll            = windows.NewLazySystemDLL("ntdll.dll")
	ntSuspendProcess = ntdll.NewProc("NtSuspendProcess")
	ntResumeProcess  = ntdll.NewProc("NtResumeProcess")
)

// Freeze stops a process until Resume.
func Freeze(pid int) error { return withProcess(pid, ntSuspendProcess) }

// Resume lets a frozen process go on.
func Resume(pid int) error { return withProcess(pid, ntResumeProcess) }

func withProcess(pid int, call *windows.LazyProc) error {
	if err := call.Find(); err != nil {
		return err
	}
	h, err := windows.OpenProcess(windows.PROCESS_SUSPEND_RESUME, false, uint32(pid))
	if err != nil {
		return fmt.Errorf("open process %d: %w", pid, err)
	}
	defer windows.CloseHandle(h)
	if status, _, _ := call.Call(uintptr(h)); status != 0 {
		return fmt.Errorf("%s of process %d: status %#x", call.Name, pid, status)
	}
	return nil
}

// Ask asks a process, started in a process group of its own, to end in an
// orderly way.
func Ask(pid int) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(pid))
}

func childrenOf() map[int][]int {
	out := map[int][]int{}
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return out
	}
	defer windows.CloseHandle(snap)
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snap, &e); err == nil; err = windows.Process32Next(snap, &e) {
		out[int(e.ParentProcessID)] = append(out[int(e.ParentProcessID)], int(e.ProcessID))
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return map[int][]int{}
	}
	return out
}
