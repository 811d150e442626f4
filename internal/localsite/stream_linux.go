package localsite

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// accept carries the streams opened to node i.
func (w *Switch) accept(i int) {
	for {
		c, err := w.tcp[i].AcceptTCP()
		if err != nil {
			return
		}
		from := w.dialer(c)
		w.wg.Go(func() { w.stream(c, from, i) })
	}
}

// stream connects a dialer with node i once the way is open. A node that is off
// refuses, and so does the switch.
func (w *Switch) stream(c *net.TCPConn, from, i int) {
	defer func() { _ = c.Close() }()
	if !w.await(from, i) {
		return
	}
	d := net.Dialer{Timeout: 3 * time.Second}
	if from >= 0 {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(w.public(from))}
	}
	up, err := d.DialContext(w.ctx, "tcp4", fmt.Sprintf("%s:%d", w.private(i), w.Port))
	if err != nil {
		_ = c.SetLinger(0)
		return
	}
	defer up.Close()
	defer context.AfterFunc(w.ctx, func() { _, _ = c.Close(), up.Close() })()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.copy(c, up.(*net.TCPConn), i, from)
	}()
	w.copy(up.(*net.TCPConn), c, from, i)
	<-done
}

// copy carries one direction until its source ends; then the other end is told,
// unless the way is cut.
func (w *Switch) copy(dst, src *net.TCPConn, from, to int) {
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		if !w.await(from, to) {
			return
		}
		if n > 0 {
			w.countStream(from, to, n)
			if _, err := dst.Write(buf[:n]); err != nil {
				_ = src.Close()
				return
			}
		}
		if err != nil {
			_ = dst.CloseWrite()
			return
		}
	}
}

func (w *Switch) countStream(from, to, n int) {
	if to >= 0 {
		w.count(from, to, n)
	}
}

// dialer finds the node that opened a connection. Its address does not tell,
// because nothing binds a dialer to one; the system's table of sockets does.
func (w *Switch) dialer(c *net.TCPConn) int {
	inode := inodeOf(c.RemoteAddr().(*net.TCPAddr), c.LocalAddr().(*net.TCPAddr))
	if inode == "" {
		return -1
	}
	for j, n := range w.s.Nodes {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", n.PID()))
		for _, fd := range fds {
			if name, err := os.Readlink(fd); err == nil && name == "socket:["+inode+"]" {
				return j
			}
		}
	}
	return -1
}

// inodeOf returns the inode of the socket with these two ends, or "".
func inodeOf(local, remote *net.TCPAddr) string {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return ""
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		cols := strings.Fields(sc.Text())
		if len(cols) > 9 && cols[1] == procAddr(local) && cols[2] == procAddr(remote) {
			return cols[9]
		}
	}
	return ""
}

// procAddr writes an address as /proc/net/tcp does on little-endian machines.
func procAddr(a *net.TCPAddr) string {
	ip := a.IP.To4()
	return fmt.Sprintf("%02X%02X%02X%02X:%04X", ip[3], ip[2], ip[1], ip[0], a.Port)
}
