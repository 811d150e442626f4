package clock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func boot() time.Duration {
	// A raw call: it never blocks, and telling Go's scheduler of it costs ten
	// times as much, since that wakes a thread to watch over it.
	var ts unix.Timespec
	if _, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_BOOTTIME, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		// Only an invalid clock id can fail, and this one exists since Linux 2.6.39.
		panic("clock: CLOCK_BOOTTIME: " + errno.Error())
	}
	return time.Duration(ts.Nano())
}
