package relayproc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

const spawnFlags = windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP |
	windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT

// spawnSuspended creates the relay's first process without letting it run. It
// inherits exactly two handles: the null device and the output.
func spawnSuspended(spec wireSpec) (windows.ProcessInformation, error) {
	var pi windows.ProcessInformation
	app, line, err := commandLine(spec)
	if err != nil {
		return pi, err
	}
	null, out, err := inheritable()
	if err != nil {
		return pi, err
	}
	defer windows.CloseHandle(null)
	defer windows.CloseHandle(out)
	handles := []windows.Handle{null, out}
	attrs, err := windows.NewProcThreadAttributeList(1)
	if err != nil {
		return pi, fmt.Errorf("prepare start of relay: %w", err)
	}
	defer attrs.Delete()
	err = attrs.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&handles[0]),
		uintptr(len(handles))*unsafe.Sizeof(handles[0]))
	if err != nil {
		return pi, fmt.Errorf("limit handles of relay: %w", err)
	}
	si := windows.StartupInfoEx{ProcThreadAttributeList: attrs.List()}
	si.Cb = uint32(unsafe.Sizeof(si))
	si.Flags = windows.STARTF_USESTDHANDLES
	si.StdInput, si.StdOutput, si.StdErr = null, out, out
	dir, err := windows.UTF16PtrFromString(spec.Dir)
	if err != nil {
		return pi, fmt.Errorf("start %s: folder %q: %w", spec.Exe, spec.Dir, err)
	}
	err = windows.CreateProcess(app, line, nil, nil, true, spawnFlags, envBlock(spec.Env), dir, &si.StartupInfo, &pi)
	if err != nil {
		return pi, fmt.Errorf("start %s: %w", spec.Exe, err)
	}
	return pi, nil
}

// commandLine quotes for a program, or for cmd.exe if exe is a batch file.
func commandLine(spec wireSpec) (app, line *uint16, err error) {
	name, text := spec.Exe, windows.ComposeCommandLine(append([]string{spec.Exe}, spec.Args...))
	if isBatch(spec.Exe) {
		system, err := windows.GetSystemDirectory()
		if err != nil {
			return nil, nil, fmt.Errorf("find cmd.exe: %w", err)
		}
		name = filepath.Join(system, "cmd.exe")
		if text, err = batchLine(name, spec.Exe, spec.Args); err != nil {
			return nil, nil, err
		}
	}
	if app, err = windows.UTF16PtrFromString(name); err == nil {
		line, err = windows.UTF16PtrFromString(text)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("start %s: %w", spec.Exe, err)
	}
	return app, line, nil
}

// inheritable opens the null device and copies the guard's stderr, both such
// that a child may inherit them.
func inheritable() (null, out windows.Handle, err error) {
	sa := &windows.SecurityAttributes{InheritHandle: 1}
	sa.Length = uint32(unsafe.Sizeof(*sa))
	name, _ := windows.UTF16PtrFromString("NUL")
	null, err = windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE,
		sa, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("open null device: %w", err)
	}
	me := windows.CurrentProcess()
	err = windows.DuplicateHandle(me, windows.Handle(os.Stderr.Fd()), me, &out, 0, true, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		windows.CloseHandle(null)
		return 0, 0, fmt.Errorf("copy output handle: %w", err)
	}
	return null, out, nil
}

// envBlock is the environment as Windows wants it: sorted, each entry ended by
// a NUL, the whole by another.
func envBlock(env []string) *uint16 {
	sorted := slices.Clone(env)
	slices.SortFunc(sorted, func(a, b string) int {
		return strings.Compare(strings.ToUpper(a), strings.ToUpper(b))
	})
	var block []uint16
	for _, kv := range sorted {
		if !strings.ContainsRune(kv, 0) {
			block = append(append(block, utf16.Encode([]rune(kv))...), 0)
		}
	}
	if len(block) == 0 {
		block = append(block, 0)
	}
	block = append(block, 0)
	return &block[0]
}
