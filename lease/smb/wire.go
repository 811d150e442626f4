package smb

import (
	"net"
	"sync"
	"sync/atomic"

	"github.com/cloudsoda/go-smb2"
)

// wire watches one TCP connection: whether it is still good, and whether
// anything was sent on it since a given moment.
type wire struct {
	*net.TCPConn
	wrote atomic.Uint64 // writes begun
	dead  atomic.Bool
	once  sync.Once
}

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.TCPConn.Read(b)
	if err != nil {
		w.dead.Store(true)
	}
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	w.wrote.Add(1)
	n, err := w.TCPConn.Write(b)
	if err != nil {
		w.dead.Store(true)
	}
	return n, err
}

// Close ends the connection without sending what is still queued: a request
// that was given up should not arrive late if that can be helped.
func (w *wire) Close() error {
	var err error
	w.once.Do(func() {
		w.dead.Store(true)
		_ = w.SetLinger(0)
		err = w.TCPConn.Close()
	})
	return err
}

// session is one logged-in connection with the share mounted.
type session struct {
	wire *wire
	fs   *smb2.Share
}

func (s *session) close() { _ = s.wire.Close() }
