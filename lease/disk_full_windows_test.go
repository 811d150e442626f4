package lease

import "golang.org/x/sys/windows"

// errDiskFull is what this system says when there is no space.
const errDiskFull = windows.ERROR_DISK_FULL
