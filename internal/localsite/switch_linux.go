package localsite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
)

// Switch stands between the nodes' gossip as a network switch would. Every
// node listens on a private loopback address and tells the others a public
// one; whatever goes to a public address passes here, UDP and TCP, and can be
// cut. A cut loses packets and holds streams up, as a pulled cable does: no
// end is told.
//
// It carries gossip only. The relay, the share and the local APIs are reached
// directly.
type Switch struct {
	Port int // GOSSIP_PORT of every node

	s       *Site
	net     string // first three bytes of all addresses, "127.x.y"
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	udp     []*net.UDPConn
	tcp     []*net.TCPListener
	traffic []traffic
	tap     atomic.Pointer[func(from, to int, packet []byte)]

	mu     sync.Mutex
	cut    map[[2]int]bool // from, to
	change chan struct{}   // closed and replaced when cut changes
}

// traffic counts what a node sent; what it received is in the others' counts.
type traffic struct{ packets, bytes, received, receivedBytes atomic.Int64 }

// Traffic is what passed between one node and the others.
type Traffic struct {
	Sent, SentBytes         int64 // datagrams, or pieces of streams, and their payload
	Received, ReceivedBytes int64
}

const switchPort = 7946

func newSwitch(s *Site) (*Switch, error) {
	var err error
	for range 20 { // another site may have drawn the same network
		w := &Switch{
			Port: switchPort, s: s, net: fmt.Sprintf("127.%d.%d", 16+rand.IntN(224), 1+rand.IntN(250)),
			traffic: make([]traffic, s.opt.Nodes), cut: map[[2]int]bool{}, change: make(chan struct{}),
		}
		w.ctx, w.cancel = context.WithCancel(context.Background())
		if err = w.listen(); err == nil {
			return w, nil
		}
		w.Close()
	}
	return nil, fmt.Errorf("put a switch between the nodes: %w", err)
}

func (w *Switch) private(i int) string { return fmt.Sprintf("%s.%d", w.net, 10+i) }
func (w *Switch) public(i int) string  { return fmt.Sprintf("%s.%d", w.net, 100+i) }

func (w *Switch) udpAddr(ip string) *net.UDPAddr {
	return &net.UDPAddr{IP: net.ParseIP(ip), Port: w.Port}
}

func (w *Switch) listen() error {
	for i := range w.traffic {
		u, err := net.ListenUDP("udp4", w.udpAddr(w.public(i)))
		if err != nil {
			return err
		}
		w.udp = append(w.udp, u)
		t, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.ParseIP(w.public(i)), Port: w.Port})
		if err != nil {
			return err
		}
		w.tcp = append(w.tcp, t)
	}
	return nil
}

// run begins to carry, once the nodes are known.
func (w *Switch) run() {
	for i := range w.traffic {
		w.wg.Go(func() { w.packets(i) })
		w.wg.Go(func() { w.accept(i) })
	}
}

// Close ends the switch and every connection through it.
func (w *Switch) Close() {
	w.cancel()
	for _, u := range w.udp {
		_ = u.Close()
	}
	for _, t := range w.tcp {
		_ = t.Close()
	}
	w.wg.Wait()
}

// Cut loses everything between the nodes a and b, counted from 0, both ways.
func (w *Switch) Cut(a, b int) {
	w.set(func() { w.cut[[2]int{a, b}], w.cut[[2]int{b, a}] = true, true })
}

// CutOneWay loses everything from a to b.
func (w *Switch) CutOneWay(a, b int) { w.set(func() { w.cut[[2]int{a, b}] = true }) }

// Isolate cuts a node off from all others.
func (w *Switch) Isolate(i int) {
	w.set(func() {
		for j := range w.traffic {
			w.cut[[2]int{i, j}], w.cut[[2]int{j, i}] = true, true
		}
	})
}

// CutAll cuts every node off from every other.
func (w *Switch) CutAll() {
	for i := range w.traffic {
		w.Isolate(i)
	}
}

// Heal ends every cut.
func (w *Switch) Heal() { w.set(func() { clear(w.cut) }) }

func (w *Switch) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	close(w.change)
	w.change = make(chan struct{})
}

// Traffic returns what a node sent and received so far.
func (w *Switch) Traffic(i int) Traffic {
	t := &w.traffic[i]
	return Traffic{
		Sent: t.packets.Load(), SentBytes: t.bytes.Load(),
		Received: t.received.Load(), ReceivedBytes: t.receivedBytes.Load(),
	}
}

func (w *Switch) count(from, to, n int) {
	if from >= 0 {
		w.traffic[from].packets.Add(1)
		w.traffic[from].bytes.Add(int64(n))
	}
	w.traffic[to].received.Add(1)
	w.traffic[to].receivedBytes.Add(int64(n))
}

// passes reports whether the way is open, and a channel that is closed when
// that may have changed. A sender that is not known passes only while nothing
// that concerns the receiver is cut.
func (w *Switch) passes(from, to int) (bool, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if from >= 0 {
		return !w.cut[[2]int{from, to}], w.change
	}
	for pair := range w.cut {
		if pair[0] == to || pair[1] == to {
			return false, w.change
		}
	}
	return true, w.change
}

// await waits until the way is open; false if the switch was closed.
func (w *Switch) await(from, to int) bool {
	for {
		open, change := w.passes(from, to)
		if open {
			return w.ctx.Err() == nil
		}
		select {
		case <-change:
		case <-w.ctx.Done():
			return false
		}
	}
}

// packets carries the datagrams sent to node i. They leave from the sender's
// public address, so that answers come through here as well.
func (w *Switch) packets(i int) {
	to := w.udpAddr(w.private(i))
	buf := make([]byte, 65535)
	for {
		n, src, err := w.udp[i].ReadFromUDP(buf)
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue // a refused datagram of ours: that node is off
		}
		from := w.sender(src.IP)
		if from < 0 {
			continue
		}
		if open, _ := w.passes(from, i); open {
			w.count(from, i, n)
			w.tapped(from, i, buf[:n])
			_, _ = w.udp[from].WriteToUDP(buf[:n], to) // a node that is off hears nothing
		}
	}
}

func (w *Switch) sender(ip net.IP) int {
	for j := range w.traffic {
		if ip.String() == w.private(j) {
			return j
		}
	}
	return -1
}
