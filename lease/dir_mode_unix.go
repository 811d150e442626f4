//go:build !windows

package lease

import "golang.org/x/sys/unix"

// share makes what this process has just created as open as LEASE_DIR is, as
// far as rights go, whatever the umask says: stations of other accounts must be
// able to read the chain and to go on with it. Not every file system has such
// rights; a failure leaves something that works for this account.
func (u unixFolder) share(fd int, rights uint32) {
	base, err := u.stat("")
	var st unix.Stat_t
	if err != nil || unix.Fstat(fd, &st) != nil {
		return
	}
	rights &= uint32(base.Mode)
	if st.Gid != base.Gid && unix.Fchown(fd, -1, int(base.Gid)) != nil {
		rights = rights&^0o070 | rights&0o007<<3 // the group of LEASE_DIR is among the others here
	}
	if have := uint32(st.Mode) & 0o7777; have|rights != have {
		_ = unix.Fchmod(fd, have|rights)
	}
}
