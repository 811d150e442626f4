package standin

import (
	"net"
	"sync"
	"time"
)

// queueLen is how many frames a slow client may lag behind before it is
// dropped; nobody waits for a slow client.
const queueLen = 256

const helloTimeout = 5 * time.Second

// hub forwards frames between the clients of one port.
type hub struct {
	cfg Config
	pid int

	mu      sync.Mutex
	clients map[*peer]bool
	conns   map[net.Conn]bool
	closed  bool
	wg      sync.WaitGroup
}

type peer struct {
	hello Hello
	conn  net.Conn
	out   chan []byte
}

func newHub(cfg Config, pid int) *hub {
	return &hub{cfg: cfg, pid: pid, clients: map[*peer]bool{}, conns: map[net.Conn]bool{}}
}

// run accepts until the listener is closed, then drops every client.
func (h *hub) run(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			break
		}
		if h.track(conn) {
			go h.serve(conn)
		}
	}
	h.close()
	h.wg.Wait()
}

func (h *hub) track(conn net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		conn.Close()
		return false
	}
	h.conns[conn] = true
	h.wg.Add(1)
	return true
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for c := range h.conns {
		c.Close()
	}
}

func (h *hub) serve(conn net.Conn) {
	defer h.wg.Done()
	defer h.forget(conn)
	if h.cfg.Mute {
		var sink [512]byte
		for {
			if _, err := conn.Read(sink[:]); err != nil {
				return
			}
		}
	}
	_ = conn.SetReadDeadline(time.Now().Add(helloTimeout))
	hello, err := readHello(conn)
	if err != nil || h.cfg.KMSN != "" && hello.KMSN != h.cfg.KMSN {
		return
	}
	answer := Hello{Software: Software, KMSN: hello.KMSN, Station: h.cfg.Station, Epoch: h.cfg.Epoch, PID: h.pid}
	if hello.Ping {
		_ = writeHello(conn, answer)
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	// Whoever has its hello gets every frame sent after it: join first, answer
	// second, and let the writer send what came meanwhile.
	p := &peer{hello: hello, conn: conn, out: make(chan []byte, queueLen)}
	h.join(p)
	defer h.leave(p)
	if writeHello(conn, answer) != nil {
		return
	}
	h.wg.Add(1)
	go p.write(&h.wg)
	for {
		body, err := ReadFrame(conn)
		if err != nil {
			return
		}
		h.forward(p, body)
	}
}

func (p *peer) write(wg *sync.WaitGroup) {
	defer wg.Done()
	for body := range p.out {
		if WriteFrame(p.conn, body) != nil {
			p.conn.Close() // the reader notices and leaves
		}
	}
}

func (h *hub) forward(from *peer, body []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.clients {
		if p == from || p.hello.KMSN != from.hello.KMSN {
			continue
		}
		select {
		case p.out <- body:
		default:
			p.conn.Close()
		}
	}
}

func (h *hub) join(p *peer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients[p] = true
}

func (h *hub) leave(p *peer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, p)
	close(p.out)
}

func (h *hub) forget(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, conn)
	conn.Close()
}
