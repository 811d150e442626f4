package relayproc

import (
	"encoding/binary"
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// Asking the kernel for listening sockets over netlink takes a few microseconds.
// The tables in /proc hold every connection of the host, and to print the end
// of the listening ones the kernel walks all of its hash table: a fifth of what
// an idle daemon costs.
const (
	sockDiagByFamily = 20 // SOCK_DIAG_BY_FAMILY
	stateListen      = 10 // TCP_LISTEN

	diagHeader = unix.SizeofNlMsghdr
	diagID     = 48               // struct inet_diag_sockid
	diagReq    = 8 + diagID       // struct inet_diag_req_v2
	diagMsg    = 4 + diagID + 5*4 // struct inet_diag_msg
	diagInode  = 4 + diagID + 4*4 // where its inode is
	diagBuffer = 32 << 10         // more than the kernel puts in one answer
	diagSecs   = 1                // it answers at once or not at all
	diagDump   = unix.NLM_F_REQUEST | unix.NLM_F_DUMP
)

// errDiag is an answer that is not understood.
var errDiag = errors.New("netlink answer not understood")

// askListeners returns the sockets of an address family that listen on port.
func askListeners(family byte, port int) ([]listener, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: diagSecs}); err != nil {
		return nil, err
	}
	if err := unix.Sendto(fd, diagQuestion(family, port), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	var out []listener
	buf := make([]byte, diagBuffer)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var done bool
		if out, done, err = readDiag(buf[:n], port, out); done || err != nil {
			return out, err
		}
	}
}

// diagQuestion asks for the listening sockets of a family on a port.
func diagQuestion(family byte, port int) []byte {
	b := make([]byte, diagHeader+diagReq)
	binary.NativeEndian.PutUint32(b[0:], uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(b[6:], diagDump)
	req := b[diagHeader:]
	req[0], req[1] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(req[4:], 1<<stateListen)
	binary.BigEndian.PutUint16(req[8:], uint16(port))
	return b
}

// readDiag takes the sockets out of one datagram and reports whether it is the
// last.
func readDiag(b []byte, port int, out []listener) (_ []listener, done bool, err error) {
	for len(b) >= diagHeader {
		size := int(binary.NativeEndian.Uint32(b))
		if size < diagHeader || size > len(b) {
			return nil, true, errDiag
		}
		body := b[diagHeader:size]
		switch binary.NativeEndian.Uint16(b[4:]) {
		case unix.NLMSG_DONE:
			return out, true, nil
		case sockDiagByFamily:
			l, err := diagListener(body)
			if err != nil {
				return nil, true, err
			}
			if l.port == port {
				out = append(out, l)
			}
		default: // an error: no such family, or no module for it
			return nil, true, errDiag
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return out, false, nil
}

func diagListener(b []byte) (listener, error) {
	if len(b) < diagMsg {
		return listener{}, errDiag
	}
	ip := make(net.IP, net.IPv4len)
	if b[0] == unix.AF_INET6 {
		ip = make(net.IP, net.IPv6len)
	}
	copy(ip, b[8:])
	return listener{
		ip: ip, port: int(binary.BigEndian.Uint16(b[4:])), key: uint64(binary.NativeEndian.Uint32(b[diagInode:])),
	}, nil
}
