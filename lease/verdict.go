package lease

import (
	"fmt"
	"strings"
)

// verdict is what an error code of the operating system says about a call. The
// tables that give it are pure, so that Windows' are tested everywhere.
type verdict uint8

const (
	// vBroken: the call broke on the way, or the code is not known. A change may
	// have been carried out.
	vBroken   verdict = iota
	vExists           // the name is taken, or the folder is not empty
	vNotExist         // the name, or a folder above it, is not there
	vDenied           // no right to do that
	vFull             // no space; nothing was done
	vGone             // the share cannot be reached, and nothing was sent
	vBusy             // somebody holds the file; worth a short retry
	vOdd              // a link, FIFO, device or the like is in the way; nothing was done
	vMaybe            // busy or denied, the code does not tell (Windows' 5)
)

// sentinel returns the error a caller may test for. Only a change can have an
// unknown outcome.
func (v verdict) sentinel(change bool) error {
	switch v {
	case vExists:
		return ErrExists
	case vNotExist:
		return ErrNotExist
	case vDenied, vMaybe:
		return ErrDenied
	case vFull:
		return ErrFull
	case vOdd:
		return ErrIrregular
	case vGone, vBusy:
		return ErrUnavailable
	}
	if change {
		return ErrUnknown
	}
	return ErrUnavailable
}

// hint says in words what to do about it.
func (v verdict) hint(dir string) string {
	switch v {
	case vDenied:
		return "no write access to " + dir
	case vMaybe:
		return "no access to " + dir + ", or another program keeps the file open"
	case vFull:
		return FullHint(dir)
	case vBusy:
		return "another program keeps the file open"
	case vGone, vBroken:
		return "check the connection to " + dir
	}
	return ""
}

// winVerdict judges a Windows error code (winerror.h). ERROR_ACCESS_DENIED is
// ambiguous: it is the answer for a name still being deleted, for a target a
// reader has open, and for a real denial.
func winVerdict(code uint32) verdict {
	switch code {
	case 2, 3: // FILE_NOT_FOUND, PATH_NOT_FOUND
		return vNotExist
	case 80, 183, 145: // FILE_EXISTS, ALREADY_EXISTS, DIR_NOT_EMPTY
		return vExists
	case 5: // ACCESS_DENIED
		return vMaybe
	case 32, 33, 303: // SHARING_VIOLATION, LOCK_VIOLATION, DELETE_PENDING
		return vBusy
	case 19, 65, 86, 123, 1314: // WRITE_PROTECT, NETWORK_ACCESS_DENIED, INVALID_PASSWORD, INVALID_NAME, PRIVILEGE_NOT_HELD
		return vDenied
	case 1219, 1326, 1327, 1331, 1909: // credential conflict, LOGON_FAILURE, restriction, disabled, locked out
		return vDenied
	case 39, 112, 314, 1295: // HANDLE_DISK_FULL, DISK_FULL, RESOURCES_EXHAUSTED, QUOTA_EXCEEDED
		return vFull
	case 4, 14, 15, 21, 67, 1222: // TOO_MANY_OPEN_FILES, OUTOFMEMORY, INVALID_DRIVE, NOT_READY, BAD_NET_NAME, NO_NETWORK
		return vGone
	}
	// 51 REM_NOT_LIST, 53 BAD_NETPATH, 54 NETWORK_BUSY, 55 DEV_NOT_EXIST, 58
	// BAD_NET_RESP, 59 UNEXP_NET_ERR, 64 NETNAME_DELETED, 121 SEM_TIMEOUT, 240
	// VC_DISCONNECTED, 995 OPERATION_ABORTED, 1117 IO_DEVICE, 1231, 1232, 1236, …
	return vBroken
}

// missingHint says what a missing LEASE_DIR usually means. A drive letter
// belongs to one logon session: a service and an elevated console do not see it.
func missingHint(path string) string {
	if len(path) >= 2 && path[1] == ':' {
		return fmt.Sprintf(`share not visible for this account, or %s does not exist; a service has no drive letters: use \\server\share; it is never created by floatrelay`, path)
	}
	return fmt.Sprintf("%s does not exist or is not mounted; it is never created by floatrelay", path)
}

// maxShort is how long a path may be, in bytes, that Windows takes in its
// ordinary form: below MAX_PATH, and below the 248 of a folder.
const maxShort = 240

// longPath returns the form of an absolute path that Windows takes in any
// length, if it needs one.
func longPath(path string) string {
	switch {
	case len(path) < maxShort || strings.HasPrefix(path, `\\?\`) || strings.HasPrefix(path, `\\.\`):
		return path
	case strings.HasPrefix(path, `\\`):
		return `\\?\UNC\` + path[2:]
	}
	return `\\?\` + path
}
