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
	if h.PID == 0 {
		return "a process that may not be looked at"
	}
	return fmt.Sprintf("pid %d (%s)", h.PID, h.Program)
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
// on every address holds the port of each.
func PortHolder(addr string, port int) (Holder, bool) {
	for _, l := range listeners(port) {
		if l.covers(addr) {
			return l.holder(), true
		}
	}
	return Holder{}, false
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

func (l listener) holder() Holder {
	h := Holder{PID: l.owner(), Addr: l.ip.String(), Port: l.port}
	if h.PID != 0 {
		h.Program = program(h.PID)
	}
	return h
}
