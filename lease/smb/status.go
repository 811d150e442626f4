package smb

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cloudsoda/go-smb2"

	"github.com/convertfw/floatrelay/lease"
)

// NTSTATUS codes a file server answers with (MS-ERREF 2.3.1), as far as they
// mean something to a lease.
const (
	stNoSuchFile        = 0xC000000F
	stSharingViolation  = 0xC0000043
	stQuotaExceeded     = 0xC0000044
	stFileLockConflict  = 0xC0000054
	stDeletePending     = 0xC0000056
	stPrivilegeNotHeld  = 0xC0000061
	stNoSuchUser        = 0xC0000064
	stWrongPassword     = 0xC000006A
	stLogonFailure      = 0xC000006D
	stRestriction       = 0xC000006E
	stLogonHours        = 0xC000006F
	stWorkstation       = 0xC0000070
	stPasswordExpired   = 0xC0000071
	stAccountDisabled   = 0xC0000072
	stDiskFull          = 0xC000007F
	stInsufficient      = 0xC000009A
	stWriteProtected    = 0xC00000A2
	stNetworkNameGone   = 0xC00000C9
	stBadNetworkName    = 0xC00000CC
	stDirectoryNotEmpty = 0xC0000101
	stNotADirectory     = 0xC0000103
	stFileClosed        = 0xC0000128
	stLogonNotGranted   = 0xC000015B
	stAccountExpired    = 0xC0000193
	stSessionDeleted    = 0xC0000203
	stMustChange        = 0xC0000224
	stAccountLocked     = 0xC0000234
	stSessionExpired    = 0xC000035C
)

// verdict is what an answer of the server, or the lack of one, says of a call.
type verdict uint8

const (
	vBroken   verdict = iota // no answer, or none that is understood
	vExists                  // the name is taken, or the folder is not empty
	vNotExist                // the name, or a folder above it, is not there
	vDenied                  // no right to do that
	vFull                    // no space; nothing was done
	vOdd                     // a link or something else that is no file is in the way; nothing was done
	vBusy                    // somebody has the file open; worth a short retry
	vExpired                 // the session is over; nothing was done
)

var codes = map[uint32]verdict{
	stNoSuchFile: vNotExist, stDirectoryNotEmpty: vExists,
	stSharingViolation: vBusy, stFileLockConflict: vBusy, stDeletePending: vBusy,
	stWriteProtected: vDenied, stPrivilegeNotHeld: vDenied,
	stDiskFull: vFull, stQuotaExceeded: vFull,
	stNetworkNameGone: vExpired, stSessionDeleted: vExpired, stSessionExpired: vExpired, stFileClosed: vExpired,
}

// judge reads an error of the protocol library.
func judge(err error) verdict {
	var re *smb2.ResponseError
	switch {
	case errors.Is(err, lease.ErrIrregular):
		return vOdd
	case errors.Is(err, os.ErrExist):
		return vExists
	case errors.Is(err, os.ErrNotExist):
		return vNotExist
	case errors.Is(err, os.ErrPermission):
		return vDenied
	case errors.As(err, &re):
		return codes[re.Code]
	}
	return vBroken
}

// answered reports whether the server answered and the connection is as good
// as before.
func answered(err error) bool {
	var re *smb2.ResponseError
	return err == nil || errors.Is(err, io.EOF) || errors.Is(err, os.ErrExist) || errors.Is(err, os.ErrNotExist) ||
		errors.Is(err, os.ErrPermission) || errors.Is(err, lease.ErrIrregular) || errors.As(err, &re) && judge(err) != vExpired
}

// errLogin marks a login the server refused.
var errLogin = errors.New("login refused")

func refusedLogin(err error) bool { return errors.Is(err, errLogin) }

var logins = map[uint32]string{
	stLogonFailure: "wrong user name or password", stWrongPassword: "wrong password", stNoSuchUser: "no such user",
	stAccountDisabled: "the account is disabled", stAccountLocked: "the account is locked out",
	stAccountExpired: "the account has expired", stPasswordExpired: "the password has expired",
	stMustChange: "the password must be changed first", stRestriction: "the account may not log in like this",
	stLogonHours: "the account may not log in at this hour", stWorkstation: "the account may not log in from this PC",
	stLogonNotGranted: "the account may not log in over the network",
}

// explainLogin says why negotiation or login failed.
func (p *pool) explainLogin(err error) error {
	var re *smb2.ResponseError
	var odd *smb2.InvalidResponseError
	switch {
	case errors.As(err, &re) && logins[re.Code] != "":
		return fmt.Errorf("%w: %w: %s for %s on %s: check the user and LEASE_SMB_PASSWORD",
			lease.ErrDenied, errLogin, logins[re.Code], p.addr.who(), p.addr.server())
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w: %w: %s may not log in on %s", lease.ErrDenied, errLogin, p.addr.who(), p.addr.server())
	case errors.As(err, &odd):
		return fmt.Errorf("%w: %w: log in on %s as %s: %w (a guest is no login: check the user)",
			lease.ErrUnavailable, errLogin, p.addr.server(), p.addr.who(), err)
	}
	return fmt.Errorf("%w: %s does not finish the login: %w", lease.ErrUnavailable, p.addr.server(), err)
}

// explainMount says why the share could not be had.
func (p *pool) explainMount(err error) error {
	var re *smb2.ResponseError
	switch {
	case errors.As(err, &re) && re.Code == stBadNetworkName, errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: no such share: %s on %s", lease.ErrUnavailable, p.addr.share, p.addr.server())
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w: %s has no access to share %s on %s", lease.ErrDenied, p.addr.who(), p.addr.share, p.addr.server())
	}
	return fmt.Errorf("%w: %s does not hand out share %s: %w", lease.ErrUnavailable, p.addr.server(), p.addr.share, err)
}
