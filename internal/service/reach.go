package service

import (
	"fmt"
	"strings"

	settings "github.com/convertfw/floatrelay/internal/config"
)

// Host is what decides whether a service can reach a path on Windows.
type Host struct {
	// Workgroup is true on a PC that belongs to no domain.
	Workgroup bool
	// Remote returns the UNC path, or the folder, that a drive letter ("W:")
	// stands for in this session, or "" if the letter is a disk of this PC.
	// known is false if there is no such drive.
	Remote func(drive string) (path string, known bool)
}

// AccountError says why a service under this account would not find what it
// needs, and what to do.
type AccountError struct{ Why, Do string }

// Error gives the reason.
func (e *AccountError) Error() string { return e.Why }

const (
	needsAccount = "install with --user ACCOUNT --password PASSWORD"
	orDirectly   = ", or set LEASE_DIR=smb://user@server/share/folder"
)

// CheckAccount tells whether a Windows service of this account reaches dir
// (LEASE_DIR). A drive letter belongs to the log-on session that connected it:
// no service sees it, whatever its account. LocalSystem and its like show
// themselves to a file server as the PC's account in the domain, and as nobody
// in a workgroup.
func CheckAccount(dir, user string, host Host) error {
	return CheckPlan(Plan{LeaseDir: dir, User: user}, host)
}

// CheckPlan is CheckAccount for every path the service needs.
func CheckPlan(p Plan, host Host) error {
	for _, f := range p.paths() {
		if f.path == "" || f.what == leaseDir && settings.IsSMB(f.path) {
			continue // smb:// speaks to the server itself, with a user and password of its own
		}
		if err := reach(f, p.User, host); err != nil {
			return err
		}
	}
	return nil
}

func reach(f namedPath, user string, host Host) error {
	path := plainPath(f.path)
	if drive, rest, ok := driveOf(path); ok {
		target, known := host.Remote(drive)
		if known && target == "" {
			return nil // a disk of this PC
		}
		return &AccountError{
			Why: fmt.Sprintf("a service does not see drive %s, because letters belong to the session that connected them (%s=%s)", drive, f.what, f.path),
			Do:  driveAdvice(f.what, target, rest),
		}
	}
	if !strings.HasPrefix(path, `\\`) {
		return nil
	}
	switch k := kindOf(user); {
	case k == anonymous:
		return &AccountError{
			Why: fmt.Sprintf("%s has no account that %s would let in (%s)", accountWords(user), f.path, f.what),
			Do:  uncAdvice(f.what, ""),
		}
	case k == computer && host.Workgroup:
		return &AccountError{
			Why: fmt.Sprintf("in a workgroup %s has no account that %s would let in (%s)", accountWords(user), f.path, f.what),
			Do:  uncAdvice(f.what, " (an account that the file server knows with the same password)"),
		}
	}
	return nil
}

// driveAdvice is what to do about a path below a drive letter that stands for
// target, if that is known.
func driveAdvice(what, target, rest string) string {
	if what != leaseDir {
		return "put " + what + " on a disk of this PC"
	}
	if _, _, local := driveOf(target); local {
		return "set LEASE_DIR=" + strings.TrimRight(target, `\`) + rest
	}
	if target == "" {
		target = `\\server\share`
	}
	return "set LEASE_DIR=" + strings.TrimRight(target, `\`) + rest + " and " + needsAccount + orDirectly
}

func uncAdvice(what, which string) string {
	if what != leaseDir {
		return "put " + what + " on a disk of this PC, or " + needsAccount + which
	}
	return needsAccount + which + orDirectly
}

// plainPath writes a path the one way the checks know: backslashes, and without
// the prefixes that tell Windows to take it literally.
func plainPath(path string) string {
	path = strings.ReplaceAll(path, "/", `\`)
	for _, prefix := range []string{`\\?\`, `\\.\`, `\??\`} {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok {
			continue
		}
		if len(rest) >= 4 && strings.EqualFold(rest[:4], `UNC\`) {
			return `\\` + rest[4:]
		}
		return rest
	}
	return path
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
