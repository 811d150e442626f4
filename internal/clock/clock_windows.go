package clock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32           = windows.NewLazySystemDLL("kernel32.dll")
	kernelbase         = windows.NewLazySystemDLL("kernelbase.dll") // kernel32 does not export it everywhere
	queryInterruptTime = kernelbase.NewProc("QueryInterruptTime")
	getTickCount64     = kernel32.NewProc("GetTickCount64")
	haveInterruptTime  = queryInterruptTime.Find() == nil
)

// boot counts sleep: QueryInterruptTime is the biased interrupt time. Where it
// is missing (before Windows 10) the coarser GetTickCount64 counts sleep too.
func boot() time.Duration {
	if haveInterruptTime {
		var t uint64
		_, _, _ = queryInterruptTime.Call(uintptr(unsafe.Pointer(&t)))
		return time.Duration(t) * 100
	}
	ms, _, _ := getTickCount64.Call()
	return time.Duration(ms) * time.Millisecond
}
