package service

import (
	"fmt"
	"strings"
)

// Host is what decides whether a service can reach the share on Windows.
type Host struct {
	// Workgroup is true on a PC that belongs to no domain.
	Workgroup bool
	// Remote returns the UNC path behind a drive letter ("W:"), or "" if the
	// letter is a disk of this PC. known is false if there is no such drive.
	Remote func(drive string) (unc string, known bool)
}

// AccountError says why a service under this account would not find the share,
// and what to do.
type AccountError struct{ Why, Do string }

// Error gives the reason.
func (e *AccountError) Error() string { return e.Why }

// CheckAccount tells whether a Windows service of this account reaches dir
// (LEASE_DIR). A drive letter belongs to the log-on session that connected it:
// no service sees it, whatever its account. LocalSystem shows itself to a file
// server as the PC's account in the domain, and as nobody in a workgroup.
func CheckAccount(dir, user string, host Host) error {
	if isSMB(dir) {
		return nil // speaks to the server itself, with a user and password of its own
	}
	if drive, rest, ok := driveOf(dir); ok {
		unc, known := host.Remote(drive)
		if known && unc == "" {
			return nil // a disk of this PC
		}
		return &AccountError{
			Why: fmt.Sprintf("a service does not see drive %s, because letters belong to the session that connected them", drive),
			Do:  "set LEASE_DIR=" + uncAdvice(unc, rest) + " and install with --user ACCOUNT --password PASSWORD, or set LEASE_DIR=smb://user@server/share/folder",
		}
	}
	if strings.HasPrefix(dir, `\\`) && IsLocalSystem(user) && host.Workgroup {
		return &AccountError{
			Why: fmt.Sprintf("in a workgroup LocalSystem has no account that %s would let in", dir),
			Do:  "install with --user ACCOUNT --password PASSWORD (an account that the file server knows with the same password), or set LEASE_DIR=smb://user@server/share/folder",
		}
	}
	return nil
}

// uncAdvice is the path to write instead of one below a drive letter.
func uncAdvice(unc, rest string) string {
	if unc == "" {
		return `\\server\share` + rest
	}
	return strings.TrimRight(unc, `\`) + rest
}

// driveOf splits "W:\socket" into "W:" and "\socket".
func driveOf(dir string) (drive, rest string, ok bool) {
	if len(dir) < 2 || dir[1] != ':' {
		return "", "", false
	}
	if c := dir[0] | 0x20; c < 'a' || c > 'z' {
		return "", "", false
	}
	return strings.ToUpper(dir[:2]), dir[2:], true
}

func isSMB(dir string) bool { return len(dir) >= 6 && strings.EqualFold(dir[:6], "smb://") }

// IsLocalSystem reports whether a user name means the account services run
// under if none is given.
func IsLocalSystem(user string) bool {
	switch strings.ToLower(strings.TrimPrefix(user, `.\`)) {
	case "", "localsystem", "system", `nt authority\system`:
		return true
	}
	return false
}

// AccountName completes a user name the way the service manager wants it: a
// name without a domain is one of this PC.
func AccountName(user string) string {
	if user == "" || strings.ContainsAny(user, `\@`) || IsLocalSystem(user) {
		return user
	}
	return `.\` + user
}
