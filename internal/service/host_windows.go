package service

import (
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	mpr                    = windows.NewLazySystemDLL("mpr.dll")
	procGetConnection      = mpr.NewProc("WNetGetConnectionW")
	advapi                 = windows.NewLazySystemDLL("advapi32.dll")
	procOpenPolicy         = advapi.NewProc("LsaOpenPolicy")
	procAddAccountRights   = advapi.NewProc("LsaAddAccountRights")
	procClosePolicy        = advapi.NewProc("LsaClose")
	procNtStatusToWinError = advapi.NewProc("LsaNtStatusToWinError")
)

// workgroup reports whether this PC belongs to no domain. If Windows does not
// say, it is taken for one that does: the refusal would be wrong otherwise.
func workgroup() bool {
	var name *uint16
	var kind uint32
	if windows.NetGetJoinInformation(nil, &name, &kind) != nil {
		return false
	}
	_ = windows.NetApiBufferFree((*byte)(unsafe.Pointer(name)))
	return kind != windows.NetSetupDomainName
}

// remote returns the UNC path, or the folder, that a drive letter stands for in
// this session. An elevated console does not see the letters of the user's own
// session; known is false then.
func remote(drive string) (path string, known bool) {
	if path = substituted(drive); path != "" {
		return path, true
	}
	root, err := windows.UTF16PtrFromString(drive + `\`)
	if err != nil {
		return "", false
	}
	switch windows.GetDriveType(root) {
	case windows.DRIVE_NO_ROOT_DIR, windows.DRIVE_UNKNOWN:
		return "", false
	case windows.DRIVE_REMOTE:
	default:
		return "", true
	}
	name, _ := windows.UTF16PtrFromString(drive)
	var buf [1024]uint16
	size := uint32(len(buf))
	if r, _, _ := procGetConnection.Call(uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&size))); r != 0 {
		return "", false
	}
	return windows.UTF16ToString(buf[:]), true
}

// substituted returns what "subst" put behind a letter, or "".
func substituted(drive string) string {
	name, err := windows.UTF16PtrFromString(drive)
	if err != nil {
		return ""
	}
	var buf [1024]uint16
	if _, err := windows.QueryDosDevice(name, &buf[0], uint32(len(buf))); err != nil {
		return ""
	}
	target, ok := strings.CutPrefix(windows.UTF16ToString(buf[:]), `\??\`)
	if !ok {
		return "" // a device: a disk, or a share that is asked for otherwise
	}
	target = plainPath(`\\?\` + target)
	if _, _, folder := driveOf(target); folder || strings.HasPrefix(target, `\\`) {
		return target
	}
	return ""
}

// lsaAttributes is LSA_OBJECT_ATTRIBUTES, all of which must be zero.
type lsaAttributes struct {
	length                     uint32
	root                       windows.Handle
	name                       *windows.NTUnicodeString
	attributes                 uint32
	descriptor, qualityService uintptr
}

const (
	policyCreateAccount = 0x10
	policyLookupNames   = 0x800
)

// allowServiceLogon gives an account the right to log on as a service.
func allowServiceLogon(user string) error {
	sid, _, _, err := windows.LookupSID("", accountForLookup(user))
	if err != nil {
		return fmt.Errorf("find the account: %w", err)
	}
	right, err := windows.NewNTUnicodeString("SeServiceLogonRight")
	if err != nil {
		return err
	}
	var attrs lsaAttributes
	attrs.length = uint32(unsafe.Sizeof(attrs))
	var policy windows.Handle
	r, _, _ := procOpenPolicy.Call(0, uintptr(unsafe.Pointer(&attrs)), policyCreateAccount|policyLookupNames, uintptr(unsafe.Pointer(&policy)))
	if r != 0 {
		return lsaError(r)
	}
	defer func() { _, _, _ = procClosePolicy.Call(uintptr(policy)) }()
	r, _, _ = procAddAccountRights.Call(uintptr(policy), uintptr(unsafe.Pointer(sid)), uintptr(unsafe.Pointer(right)), 1)
	if r != 0 {
		return lsaError(r)
	}
	return nil
}

// accountForLookup: the lookup does not know ".\" for this PC.
func accountForLookup(user string) string {
	if len(user) > 2 && user[:2] == `.\` {
		if host, err := windows.ComputerName(); err == nil {
			return host + user[1:]
		}
	}
	return user
}

func lsaError(status uintptr) error {
	r, _, _ := procNtStatusToWinError.Call(status)
	return windows.Errno(r)
}
