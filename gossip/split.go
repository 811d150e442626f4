package gossip

import (
	"net"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Bounds on incoming connections, so that a stranger cannot exhaust us: it may
// keep others from connecting for as long as it tries, but beats, vouches and
// probes are packets.
const (
	maxStreams       = 256             // all incoming connections together
	maxStreamsPerIP  = 32              // from one address
	firstByteTimeout = 2 * time.Second // to say what kind it is
)

// splitter hands incoming streams to memberlist or to the watch server, by
// their first byte: both use the one port that the firewall lets through. It is
// the transport memberlist sees.
type splitter struct {
	Transport
	streams chan net.Conn
	watch   func(net.Conn) // serves and closes one watch connection

	done chan struct{}
	wg   sync.WaitGroup

	mu    sync.Mutex
	open  map[*stream]struct{}
	in    int            // incoming ones among them
	perIP map[string]int // and by address

	inflow inflow // bytes read from the open connections, watches apart
}

func split(inner Transport, watch func(net.Conn)) *splitter {
	s := &splitter{
		Transport: inner, watch: watch,
		streams: make(chan net.Conn), done: make(chan struct{}),
		open: map[*stream]struct{}{}, perIP: map[string]int{},
	}
	s.wg.Go(s.run)
	return s
}

// StreamCh implements memberlist.Transport.
func (s *splitter) StreamCh() <-chan net.Conn { return s.streams }

// DialAddressTimeout implements memberlist.NodeAwareTransport. The connection
// ends with Shutdown, so that nobody waits for a peer that is frozen.
func (s *splitter) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	c, err := s.Transport.DialAddressTimeout(a, timeout)
	if err != nil {
		return nil, err
	}
	t := &stream{Conn: c, owner: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
		_ = c.Close()
		return nil, net.ErrClosed
	default:
	}
	s.open[t] = struct{}{}
	return t, nil
}

// Shutdown closes every connection and the transport below. Calling
// it again does nothing.
func (s *splitter) Shutdown() error {
	s.mu.Lock()
	select {
	case <-s.done:
		s.mu.Unlock()
		return nil
	default:
	}
	close(s.done)
	open := make([]*stream, 0, len(s.open))
	for c := range s.open {
		open = append(open, c)
	}
	s.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
	err := s.Transport.Shutdown()
	s.wg.Wait()
	return err
}

func (s *splitter) run() {
	for {
		select {
		case <-s.done:
			return
		case c := <-s.Transport.StreamCh():
			if t := s.admit(c); t != nil {
				s.wg.Go(func() { s.route(t) })
			}
		}
	}
}

// admit counts a connection, or closes it and returns nil if there are too
// many.
func (s *splitter) admit(c net.Conn) *stream {
	ip := hostOf(c.RemoteAddr())
	t := &stream{Conn: c, owner: s, ip: ip}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
		_ = c.Close()
		return nil
	default:
	}
	if s.in >= maxStreams || s.perIP[ip] >= maxStreamsPerIP {
		_ = c.Close()
		return nil
	}
	s.open[t] = struct{}{}
	s.in++
	s.perIP[ip]++
	return t
}

// route looks at the first byte.
func (s *splitter) route(t *stream) {
	_ = t.SetReadDeadline(time.Now().Add(firstByteTimeout))
	var b [1]byte
	if n, err := t.Conn.Read(b[:]); n == 0 || err != nil {
		_ = t.Close()
		return
	}
	_ = t.SetReadDeadline(time.Time{})
	if b[0] == watchMagic {
		t.watch = true
		s.watch(t)
		_ = t.Close()
		return
	}
	t.first = b[:]
	select {
	case s.streams <- t:
	case <-s.done:
		_ = t.Close()
	}
}

// stream is a connection that ends with the splitter: a counted incoming one,
// whose first byte may have been read already, or one memberlist dialed.
type stream struct {
	net.Conn
	first []byte // used by the one reader only
	watch bool   // a watch connection: it lives long and nothing of it is kept
	owner *splitter
	ip    string // of an incoming one
	once  sync.Once

	mu     sync.Mutex
	got    int // bytes counted in owner.inflow
	closed bool
}

// Read reads at most maxStreamBytes in all, and less while the other
// connections hold the rest of maxInflow. It fails with errTooMuch above.
func (t *stream) Read(p []byte) (int, error) {
	if len(t.first) > 0 && len(p) > 0 {
		n := copy(p, t.first)
		t.first = t.first[n:]
		return n, nil
	}
	if t.watch {
		return t.Conn.Read(p)
	}
	n, err := t.Conn.Read(p[:min(len(p), readAtOnce)])
	if t.count(n) != nil {
		_ = t.Close()
		return 0, errTooMuch
	}
	return n, err
}

// count counts bytes until the connection is closed.
func (t *stream) count(n int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil // the bytes go nowhere any more
	}
	t.got += n
	err := t.owner.inflow.add(t.ip, n)
	if t.got > maxStreamBytes {
		return errTooMuch
	}
	return err
}

func (t *stream) Close() error {
	t.once.Do(func() {
		t.mu.Lock()
		t.closed = true
		t.owner.inflow.take(t.ip, t.got)
		t.mu.Unlock()
		s := t.owner
		s.mu.Lock()
		delete(s.open, t)
		if t.ip != "" {
			s.in--
			if s.perIP[t.ip]--; s.perIP[t.ip] <= 0 {
				delete(s.perIP, t.ip)
			}
		}
		s.mu.Unlock()
	})
	return t.Conn.Close()
}

// hostOf is the address without the port.
func hostOf(a net.Addr) string {
	if a == nil {
		return "?"
	}
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}
