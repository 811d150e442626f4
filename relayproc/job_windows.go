package relayproc

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32       = windows.NewLazySystemDLL("kernel32.dll")
	isProcessInJob = kernel32.NewProc("IsProcessInJob")
)

// job is a job object whose only handle is ours: with the guard's end, however
// it comes, the system ends every process in it.
type job struct{ handle windows.Handle }

// newJob makes a job that dies with its handle and lets nobody break away.
// Jobs nest, so a guard that is in a job itself is no obstacle.
func newJob() (*job, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE |
		windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	_, err = windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(h)
		return nil, fmt.Errorf("limit job: %w", err)
	}
	return &job{h}, nil
}

func (j *job) add(process windows.Handle) error {
	if err := windows.AssignProcessToJobObject(j.handle, process); err != nil {
		return fmt.Errorf("put process into job: %w", err)
	}
	return nil
}

func (j *job) kill() { windows.TerminateJobObject(j.handle, killedCode) }

func (j *job) close() { windows.CloseHandle(j.handle) }

// members lists the processes in the job.
func (j *job) members() []int {
	const room = 256
	var list struct {
		assigned, listed uint32
		ids              [room]uintptr
	}
	// With more processes than room the call fails but fills what fits.
	_ = windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	out := make([]int, 0, list.listed)
	for _, id := range list.ids[:min(list.listed, room)] {
		out = append(out, int(id))
	}
	return out
}

// active counts the processes in the job; -1 if that cannot be told.
func (j *job) active() int {
	var info struct {
		userTime, kernelTime, periodUser, periodKernel int64
		faults, total, active, terminated              uint32
	}
	err := windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	if err != nil {
		return -1
	}
	return int(info.active)
}

func (j *job) has(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	var in int32
	rc, _, _ := isProcessInJob.Call(uintptr(h), uintptr(j.handle), uintptr(unsafe.Pointer(&in)))
	return rc != 0 && in != 0
}
