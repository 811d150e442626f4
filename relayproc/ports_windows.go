package relayproc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	iphlpapi            = windows.NewLazySystemDLL("iphlpapi.dll")
	getExtendedTCPTable = iphlpapi.NewProc("GetExtendedTcpTable")
)

const (
	tableOwnerPIDListener = 3
	// The flag has no name in x/sys: ~SO_REUSEADDR.
	soExclusiveAddrUse = ^windows.SO_REUSEADDR

	// Windows always knows the owner; wine does not. Then it has to do that the
	// guard found the port free just before it started the relay.
	trustUnknownOwner = true

	row4 = 24 // bytes of MIB_TCPROW_OWNER_PID
	row6 = 56 // bytes of MIB_TCP6ROW_OWNER_PID
)

// listeners returns the sockets that listen on port.
func listeners(port int) []listener {
	var out []listener
	for _, row := range tcpRows(windows.AF_INET, row4) {
		out = appendListener(out, port, row[4:8], row[8:10], row[20:24])
	}
	for _, row := range tcpRows(windows.AF_INET6, row6) {
		out = appendListener(out, port, row[0:16], row[20:22], row[52:56])
	}
	return out
}

func appendListener(out []listener, port int, ip, p, pid []byte) []listener {
	if int(binary.BigEndian.Uint16(p)) != port {
		return out
	}
	owner := int(binary.LittleEndian.Uint32(pid))
	key := uint64(owner)<<32 | uint64(port)<<16 | uint64(ip[len(ip)-1])<<1 | uint64(len(ip)>>4)
	return append(out, listener{ip: append(net.IP{}, ip...), port: port, pid: owner, key: key})
}

// tcpRows reads the table of listening sockets, which may grow between asking
// for its size and reading it.
func tcpRows(family, size int) [][]byte {
	n := uint32(16 << 10)
	for range 5 {
		buf := make([]byte, n)
		rc, _, _ := getExtendedTCPTable.Call(uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&n)),
			0, uintptr(family), tableOwnerPIDListener, 0)
		switch windows.Errno(rc) {
		case windows.ERROR_SUCCESS:
			return splitRows(buf, size)
		case windows.ERROR_INSUFFICIENT_BUFFER:
			n += 4 << 10
		default:
			return nil
		}
	}
	return nil
}

func splitRows(buf []byte, size int) [][]byte {
	count := int(binary.LittleEndian.Uint32(buf))
	var out [][]byte
	for at := 4; count > 0 && at+size <= len(buf); at, count = at+size, count-1 {
		out = append(out, buf[at:at+size])
	}
	return out
}

func (l listener) owner() int { return l.pid }

// still reports whether the listener is still there with the same owner.
func (l listener) still(pid int) bool {
	for _, now := range listeners(l.port) {
		if now.key == l.key && now.pid == pid {
			return true
		}
	}
	return false
}

// tryBind binds exclusively, as the strictest relay would, and lets go again
// without listening.
func tryBind(addr string, port int) (PortKind, error) {
	family, sa := sockaddr(addr, port)
	fd, err := windows.Socket(family, windows.SOCK_STREAM, windows.IPPROTO_TCP)
	if err != nil {
		return PortNoAddr, fmt.Errorf("open socket: %w", err)
	}
	defer windows.Closesocket(fd)
	if err := windows.SetsockoptInt(fd, windows.SOL_SOCKET, soExclusiveAddrUse, 1); err != nil {
		return PortNoAddr, fmt.Errorf("claim port: %w", err)
	}
	err = windows.Bind(fd, sa)
	switch {
	case err == nil:
		return 0, nil
	case errors.Is(err, windows.WSAEADDRINUSE):
		return PortTimeWait, fmt.Errorf("bind: %w", err)
	case errors.Is(err, windows.WSAEACCES):
		return PortReserved, fmt.Errorf("bind: %w", err)
	}
	return PortNoAddr, fmt.Errorf("bind: %w", err)
}

func sockaddr(addr string, port int) (int, windows.Sockaddr) {
	ip := net.ParseIP(addr)
	if ip4 := ip.To4(); ip4 != nil || ip == nil {
		sa := &windows.SockaddrInet4{Port: port}
		copy(sa.Addr[:], ip4)
		return windows.AF_INET, sa
	}
	sa := &windows.SockaddrInet6{Port: port}
	copy(sa.Addr[:], ip.To16())
	return windows.AF_INET6, sa
}
