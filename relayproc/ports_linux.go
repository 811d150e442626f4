package relayproc

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const tcpListen = "0A"

// trustUnknownOwner is off: an owner that may not be looked at is of another
// user, and a relay of ours is not.
const trustUnknownOwner = false

// listeners returns the sockets that listen on port in this network namespace.
func listeners(port int) []listener {
	var out []listener
	for _, table := range tcpTables {
		found, err := askListeners(table.family, port)
		if err != nil { // a kernel without it, or a sandbox
			found = listenersIn(table.path, port)
		}
		out = append(out, found...)
	}
	return out
}

// tcpTables are where listening sockets are found.
var tcpTables = []struct {
	family byte
	path   string
}{{unix.AF_INET, "/proc/self/net/tcp"}, {unix.AF_INET6, "/proc/self/net/tcp6"}}

// listenersIn reads one table. Listening sockets come first in it, so reading
// ends at the first other one: a busy host has thousands.
func listenersIn(path string, port int) []listener {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var out []listener
	sc := bufio.NewScanner(f)
	sc.Scan() // headings
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) < 10 {
			continue
		}
		if f[3] != tcpListen {
			break
		}
		if l, ok := parseListener(f); ok && l.port == port {
			out = append(out, l)
		}
	}
	return out
}

func parseListener(f []string) (listener, bool) {
	host, p, ok := strings.Cut(f[1], ":")
	if !ok {
		return listener{}, false
	}
	port, err := strconv.ParseUint(p, 16, 16)
	raw, err2 := hex.DecodeString(host)
	inode, err3 := strconv.ParseUint(f[9], 10, 64)
	if errors.Join(err, err2, err3) != nil || len(raw)%4 != 0 {
		return listener{}, false
	}
	for i := 0; i < len(raw); i += 4 { // each word is printed as a number of this host
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	return listener{ip: net.IP(raw), port: int(port), key: inode}, true
}

// owner finds the process that has the socket open; zero if it may not be seen.
func (l listener) owner() int {
	want := fmt.Sprintf("socket:[%d]", l.key)
	for _, pid := range pids() {
		if hasLink(pid, want) {
			return pid
		}
	}
	return 0
}

// still reports whether pid has the socket open now.
func (l listener) still(pid int) bool { return hasLink(pid, fmt.Sprintf("socket:[%d]", l.key)) }

func hasLink(pid int, want string) bool {
	names, _ := filepath.Glob(procPath(pid, "fd/*"))
	for _, n := range names {
		if link, err := os.Readlink(n); err == nil && link == want {
			return true
		}
	}
	return false
}

// tryBind binds without SO_REUSEADDR, as the strictest relay would, and lets go
// again without listening, so that nobody can connect to the attempt.
func tryBind(addr string, port int) (PortKind, error) {
	family, sa := sockaddr(addr, port)
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return PortNoAddr, fmt.Errorf("open socket: %w", err)
	}
	defer unix.Close(fd)
	err = unix.Bind(fd, sa)
	switch {
	case err == nil:
		return 0, nil
	case errors.Is(err, unix.EADDRINUSE):
		return PortTimeWait, fmt.Errorf("bind: %w", err)
	case errors.Is(err, unix.EACCES):
		return PortReserved, fmt.Errorf("bind: %w", err)
	}
	return PortNoAddr, fmt.Errorf("bind: %w", err)
}

func sockaddr(addr string, port int) (int, unix.Sockaddr) {
	ip := net.ParseIP(addr)
	if ip4 := ip.To4(); ip4 != nil || ip == nil {
		sa := &unix.SockaddrInet4{Port: port}
		copy(sa.Addr[:], ip4)
		return unix.AF_INET, sa
	}
	sa := &unix.SockaddrInet6{Port: port}
	copy(sa.Addr[:], ip.To16())
	return unix.AF_INET6, sa
}
