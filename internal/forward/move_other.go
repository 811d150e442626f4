//go:build !linux

package forward

import (
	"io"
	"net"
)

// moveBuffer bounds what a connection needs: two of them.
const moveBuffer = 16 << 10

// newMover returns what carries at most n bytes. The methods that would take a
// larger buffer each time are hidden.
func newMover(dst, src *net.TCPConn) func(n int64) (int64, error) {
	buf := make([]byte, moveBuffer)
	return func(n int64) (int64, error) {
		got, err := io.CopyBuffer(struct{ io.Writer }{dst}, io.LimitReader(src, n), buf)
		if err == nil && got < n {
			err = io.EOF
		}
		return got, err
	}
}
