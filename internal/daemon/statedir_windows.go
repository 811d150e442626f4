package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Accounts by their SIDs.
const (
	sidSystem    = "S-1-5-18"
	sidAdmins    = "S-1-5-32-544"
	sidInstaller = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464" // TrustedInstaller
)

// sidsOfMany are groups that any user of the PC may be in.
var sidsOfMany = map[string]string{
	"S-1-1-0": "Everyone", "S-1-5-11": "Authenticated Users", "S-1-5-32-545": "Users", "S-1-5-4": "Interactive",
}

// rightsToChange are the rights that let an account change a folder or what is
// in it: write, append, delete a child, delete, change the permissions, own it.
const rightsToChange = 0x2 | 0x4 | 0x40 | windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL

// makeStateDir makes STATE_DIR for SYSTEM, the administrators and this account
// alone: below ProgramData every user may otherwise create files. A folder that
// is there already is closed likewise if others may change it. One of another
// account is taken over where this account may do so, as the service may, and
// refused otherwise. note says what was mended.
func makeStateDir(dir string) (note string, err error) {
	own, err := ownSID()
	if err != nil {
		return "", fmt.Errorf("find this account: %w", err)
	}
	sd, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + own + ")")
	if err != nil {
		return "", fmt.Errorf("describe the permissions: %w", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return closeStateDir(dir, sd)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return "", err
	}
	sa := windows.SecurityAttributes{SecurityDescriptor: sd}
	sa.Length = uint32(unsafe.Sizeof(sa))
	err = windows.CreateDirectory(path, &sa)
	switch {
	case errors.Is(err, windows.ERROR_ALREADY_EXISTS): // somebody was quicker
		return closeStateDir(dir, sd)
	case err != nil:
		return "", &fs.PathError{Op: "mkdir", Path: dir, Err: err}
	}
	return "", nil
}

// closeStateDir closes a folder that is there, and takes over what belongs to
// another account. First the folder is closed, so that nothing is added
// meanwhile.
func closeStateDir(dir string, sd *windows.SECURITY_DESCRIPTOR) (note string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil { // says so if it is a file
		return "", err
	}
	strangers := strangersIn(dir)
	if strangers == "" && openToOthers(dir) == "" {
		return "", nil
	}
	dacl, _, err := sd.DACL()
	if err == nil {
		err = windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT,
			windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, dacl, nil)
	}
	if err != nil {
		return "", fmt.Errorf("close %s to other accounts: %w", dir, err)
	}
	if strangers == "" {
		return fmt.Sprintf("STATE_DIR %s was open to other accounts; it is closed now", dir), nil
	}
	admins, err := windows.StringToSid(sidAdmins)
	if err != nil {
		return "", err
	}
	for _, path := range pathsIn(dir) {
		_ = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION, admins, nil, nil, nil)
	}
	if text := strangersIn(dir); text != "" {
		return "", errors.New(text)
	}
	return fmt.Sprintf("STATE_DIR %s, or something in it, was made by another account; it belongs to the administrators now", dir), nil
}

// pathsIn are a folder and what is in it.
func pathsIn(dir string) []string {
	paths := []string{dir}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	return paths
}

func ownSID() (string, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", err
	}
	return user.User.Sid.String(), nil
}

// strangersIn says what in STATE_DIR belongs to an account that is neither this
// one nor the system nor the administrators, or "".
func strangersIn(dir string) string {
	own, err := ownSID()
	if err != nil {
		return ""
	}
	for _, path := range pathsIn(dir) {
		sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
		if err != nil {
			continue
		}
		owner, _, err := sd.Owner()
		if err != nil || owner == nil {
			continue
		}
		switch sid := owner.String(); sid {
		case own, sidSystem, sidAdmins, sidInstaller:
		default:
			return fmt.Sprintf("%s belongs to another account (%s): remove it, or let the administrators own it (takeown /a /r /f), if that account made it for you", path, accountName(owner))
		}
	}
	return ""
}

func accountName(sid *windows.SID) string {
	name, domain, _, err := sid.LookupAccount("")
	if err != nil {
		return sid.String()
	}
	return domain + `\` + name
}

// openToOthers says whether any user of this PC can change what is in STATE_DIR.
func openToOthers(dir string) string {
	sd, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return ""
	}
	if who := whoMayChange(sd); who != "" {
		return fmt.Sprintf("STATE_DIR %s can be changed by other accounts (%s): start floatrelay once as its service, which closes it, or use icacls", dir, who)
	}
	return ""
}

// whoMayChange names the groups of many that a DACL lets change a folder.
func whoMayChange(sd *windows.SECURITY_DESCRIPTOR) string {
	dacl, _, err := sd.DACL()
	if err != nil || dacl == nil {
		return "Everyone" // no list at all: everybody may do everything
	}
	var who []string
	for i := range dacl.AceCount {
		var ace *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(dacl, uint32(i), &ace) != nil || ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE {
			continue
		}
		sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
		if name := sidsOfMany[sid.String()]; name != "" && ace.Mask&rightsToChange != 0 {
			who = append(who, name)
		}
	}
	return strings.Join(who, ", ")
}
