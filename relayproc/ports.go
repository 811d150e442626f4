package relayproc

import (
	"errors"
	"fmt"
	"net"
)

// Holder is the process that listens on a port.
type Holder struct {
	PID     int // zero if it may not be known
	Program string
	Addr    string
	Port    int
}

func (h Holder) String() string {
	text := "a process that may not be looked at"
	if h.PID != 0 {
		text = fmt.Sprintf("pid %d (%s)", h.PID, h.Program)
	}
	if h.Addr != "" {
		text += " on " + h.Addr
	}
	return text
}

func (h Holder) err() *PortError {
	return &PortError{Addr: h.Addr, Port: h.Port, Kind: PortHeld, Holder: h}
}

// PortKind says why a port cannot be had.
type PortKind uint8

// The kinds.
const (
	PortHeld     PortKind = iota // somebody listens on it
	PortTimeWait                 // old connections are in TIME_WAIT; it becomes free by itself
	PortReserved                 // the system keeps it
	PortNoAddr                   // the address is not one of this host
)

// PortError says which port cannot be had, and why.
type PortError struct {
	Addr   string
	Port   int
	Kind   PortKind
	Holder Holder // with PortHeld
	Err    error
}

func (e *PortError) Error() string {
	switch e.Kind {
	case PortHeld:
		return fmt.Sprintf("port %d is held by %v", e.Port, e.Holder)
	case PortTimeWait:
		return fmt.Sprintf("port %d is in TIME_WAIT after its last owner", e.Port)
	case PortReserved:
		return fmt.Sprintf("port %d is reserved by the system: %v", e.Port, e.Err)
	}
	return fmt.Sprintf("address %s cannot be listened on: %v", e.Addr, e.Err)
}

func (e *PortError) Unwrap() error { return e.Err }

// PortsFree returns nil if a relay can listen on addr at port and port+1, or a
// *PortError naming the first obstacle. An empty addr stands for every address.
func PortsFree(addr string, port int) error {
	return errors.Join(portFree(addr, port), portFree(addr, port+1))
}

// PortHolder returns who listens on addr and port, if anybody does. A listener
// on every address holds the port of each; one on every IPv6 address only if an
// IPv4 address cannot be bound beside it, which is tried where it matters.
func PortHolder(addr string, port int) (Holder, bool) {
	var doubtful listener
	for _, l := range listeners(port) {
		switch {
		case !l.covers(addr):
		case l.perhaps(addr):
			doubtful = l
		default:
			return l.holder(), true
		}
	}
	if doubtful.port == 0 {
		return Holder{}, false
	}
	if kind, err := tryBind(addr, port); err == nil || kind == PortNoAddr {
		return Holder{}, false
	}
	return doubtful.holder(), true
}

// ReservedPort returns a *PortError if the system keeps port or port+1 from
// every program. It tries to bind, for a moment: to be asked only while no
// relay of ours may be starting.
func ReservedPort(addr string, port int) error {
	for _, p := range []int{port, port + 1} {
		if kind, err := tryBind(addr, p); err != nil && kind == PortReserved {
			if h, held := PortHolder(addr, p); held { // an exclusive holder looks the same
				return h.err()
			}
			return &PortError{Addr: addr, Port: p, Kind: PortReserved, Err: err}
		}
	}
	return nil
}

// PortHolders returns everybody who listens on port, on whatever address: on
// Windows, and between single addresses everywhere, that can be several.
func PortHolders(port int) (all []Holder) {
	for _, l := range listeners(port) {
		all = append(all, l.holder())
	}
	return all
}

// portFree looks for a listener first, then tries to bind without SO_REUSEADDR.
func portFree(addr string, port int) error {
	if h, held := PortHolder(addr, port); held {
		return h.err()
	}
	kind, err := tryBind(addr, port)
	if err == nil {
		return nil
	}
	if h, held := PortHolder(addr, port); held { // came between the two looks
		return h.err()
	}
	return &PortError{Addr: addr, Port: port, Kind: kind, Err: err}
}

func anyListener(addr string, ports []int) (Holder, bool) {
	for _, port := range ports {
		if h, held := PortHolder(addr, port); held {
			return h, true
		}
	}
	return Holder{}, false
}

// listener is a listening socket of this host.
type listener struct {
	ip   net.IP
	port int
	pid  int    //nolint:unused // on Windows the table tells; zero if not known
	key  uint64 // inode, where the pid is found by it
}

// covers reports whether the listener takes connections to addr, or keeps
// another one from listening there.
func (l listener) covers(addr string) bool {
	ip := net.ParseIP(addr)
	return ip == nil || ip.IsUnspecified() || l.ip.IsUnspecified() || l.ip.Equal(ip)
}

// perhaps reports whether l, on every IPv6 address, may leave the IPv4 address
// addr to others; the table does not tell.
func (l listener) perhaps(addr string) bool {
	ip := net.ParseIP(addr)
	return l.wild6() && ip != nil && ip.To4() != nil
}

// wild6 reports a listener on every IPv6 address.
func (l listener) wild6() bool { return l.ip.IsUnspecified() && l.ip.To4() == nil }

func (l listener) holder() Holder {
	h := Holder{PID: l.owner(), Addr: l.ip.String(), Port: l.port}
	if h.PID != 0 {
		h.Program = program(h.PID)
	}
	return h
}
