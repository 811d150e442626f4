package forward

import (
	"net"
	"time"
)

// aheadMax is how much of what a held program sends is read. The rest waits in
// the program's own socket.
const aheadMax = 2048

// ahead reads what a program sends while it is held: reading is the only way to
// notice that it has gone.
type ahead struct {
	conn *net.TCPConn
	gone chan struct{} // closed when the program closed
	done chan struct{} // closed when nothing is read any more
	buf  []byte
}

func readAhead(conn *net.TCPConn) *ahead {
	a := &ahead{conn: conn, gone: make(chan struct{}), done: make(chan struct{}), buf: make([]byte, 0, aheadMax)}
	go a.run()
	return a
}

func (a *ahead) run() {
	defer close(a.done)
	for len(a.buf) < cap(a.buf) {
		n, err := a.conn.Read(a.buf[len(a.buf):cap(a.buf)])
		a.buf = a.buf[:len(a.buf)+n]
		if ne, ok := err.(net.Error); ok && ne.Timeout() { //nolint:errorlint // net returns it bare
			return
		}
		if err != nil {
			close(a.gone)
			return
		}
	}
}

// end stops reading and returns what was read.
func (a *ahead) end() []byte {
	_ = a.conn.SetReadDeadline(time.Unix(1, 0))
	<-a.done
	_ = a.conn.SetReadDeadline(time.Time{})
	return a.buf
}

// closed reports whether the program has closed.
func (a *ahead) closed() bool {
	select {
	case <-a.gone:
		return true
	default:
		return false
	}
}
