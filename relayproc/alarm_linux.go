package relayproc

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// alarm is a timer of the kernel that kills this process at a boot time. It does
// so to a stopped process too, and when a host wakes that slept past the time:
// it is what holds a deadline when nobody is left to look at a clock. A nil alarm
// does nothing.
type alarm struct{ id int32 }

// timerAbstime is TIMER_ABSTIME of timer_settime(2).
const timerAbstime = 1

// newAlarm makes an alarm that is not set. It ends with the process.
func newAlarm() (*alarm, error) {
	ev := struct { // struct sigevent
		value          uintptr
		signal, notify int32 // notify 0 is SIGEV_SIGNAL
		_              [48]byte
	}{signal: int32(unix.SIGKILL)}
	a := &alarm{}
	_, _, errno := unix.Syscall(unix.SYS_TIMER_CREATE, unix.CLOCK_BOOTTIME,
		uintptr(unsafe.Pointer(&ev)), uintptr(unsafe.Pointer(&a.id)))
	if errno != 0 {
		return nil, fmt.Errorf("create a timer: %w", errno)
	}
	return a, nil
}

// set moves the alarm to the boot time at; zero puts it off for good. An error
// means that no alarm is set.
func (a *alarm) set(at time.Duration) error {
	if a == nil {
		return nil
	}
	var spec unix.ItimerSpec
	if at != 0 {
		spec.Value = unix.NsecToTimespec(int64(max(at, 1)))
	}
	_, _, errno := unix.Syscall6(unix.SYS_TIMER_SETTIME, uintptr(a.id), timerAbstime,
		uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("set a timer: %w", errno)
	}
	return nil
}
