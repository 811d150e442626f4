package localapi

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// CheckAddr refuses an API_ADDR that is not host:port on a loopback address:
// whoever reaches the API may read everything the daemon knows.
func CheckAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("API_ADDR %q: want host:port, for example 127.0.0.1:9532", addr)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("API_ADDR %q: port %q is not 0 to 65535", addr, port)
	}
	if !loopbackHost(host) {
		return fmt.Errorf("API_ADDR %q: only a loopback address is allowed (127.0.0.1, ::1 or localhost)", addr)
	}
	return nil
}

// loopbackHost reports whether host names this PC only. Names other than
// localhost are refused without asking a resolver: it may be lying.
func loopbackHost(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback() && ip.Zone() == ""
}

// Listen opens addr after CheckAddr, and makes sure that what was opened is
// loopback (localhost may resolve to anything).
func Listen(addr string) (net.Listener, error) {
	if err := CheckAddr(addr); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("open the local API on %s (change API_ADDR if another program has the port): %w", addr, err)
	}
	tcp, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		_ = ln.Close()
		return nil, fmt.Errorf("API_ADDR %q: opened %s, which is not a loopback address", addr, ln.Addr())
	}
	return ln, nil
}

// hostAllowed checks a Host header: a loopback name or address with our port.
// A web page that made a name resolve to 127.0.0.1 fails here.
func hostAllowed(header string, port int) bool {
	host, p, err := net.SplitHostPort(header)
	if err != nil {
		return false
	}
	return loopbackHost(host) && p == strconv.Itoa(port)
}
