package gossip

import (
	"errors"
	"sync"
)

// Bounds on the bytes of memberlist's connections. memberlist keeps everything
// that a connection announces, up to 20 MB, before it can tell a member from a
// stranger; with the copies it makes, what is kept here costs about four times
// as much memory. A member's list of 350 others takes 256 KiB at most.
const (
	maxStreamBytes = 256 << 10 // of one connection
	maxHostBytes   = 1 << 20   // of all incoming connections from one address
	maxInflow      = 8 << 20   // of all open connections together
	// readAtOnce keeps the last read before a bound small.
	readAtOnce = 16 << 10
)

// errTooMuch ends a connection whose other side sends more than a member does.
var errTooMuch = errors.New("more bytes than a member sends")

// inflow counts what was read from the connections that are still open. Its
// zero value counts nothing yet.
type inflow struct {
	mu    sync.Mutex
	all   int
	hosts map[string]int
}

// add counts n bytes from host; an empty host is a connection that we made. It
// returns errTooMuch if a bound was passed. The bytes count until taken.
func (f *inflow) add(host string, n int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all += n
	if host != "" {
		if f.hosts == nil {
			f.hosts = map[string]int{}
		}
		f.hosts[host] += n
	}
	if f.all > maxInflow || f.hosts[host] > maxHostBytes {
		return errTooMuch
	}
	return nil
}

// take forgets n bytes from host: their connection was closed.
func (f *inflow) take(host string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all -= n
	if host == "" || n == 0 {
		return
	}
	if f.hosts[host] -= n; f.hosts[host] <= 0 {
		delete(f.hosts, host)
	}
}

// held returns how many bytes are counted now.
func (f *inflow) held() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all
}
