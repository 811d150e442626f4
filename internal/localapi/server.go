package localapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Bounds of the server. A local tool needs none of them; a broken or hostile
// program on this PC does.
const (
	maxBody     = 4 << 10 // bytes of a POST body
	maxHeader   = 8 << 10
	maxRequests = 32                      // being answered at once, watchers apart
	maxChanges  = 8                       // of those that change something, beside them
	maxWatchers = 16                      // without the token, and as many with it
	answerTime  = 1500 * time.Millisecond // for the reading requests
	changeTime  = 10 * time.Second        // for handoff, drain and undrain
	watchWrite  = 5 * time.Second         // per event; a watcher that stops reading is dropped
	closeTime   = time.Second
)

// Source is what the API shows and changes. Members, Leader and Status are
// called often and must answer from memory.
type Source interface {
	Members() Members
	// Leader is false while nobody is known to lead.
	Leader() (Leader, bool)
	Status() Status
	// Handoff gives the lease to the station or member named, or to the best
	// one if to is empty. A refusal is an error whose text is its reason; nil
	// means the handoff has begun.
	Handoff(ctx context.Context, to string) error
	// Drain makes this member ineligible (and hands the lease over if it
	// leads) until it is called with false. It survives a restart.
	Drain(ctx context.Context, on bool) error
	// Subscribe returns events from now on and a function that ends them.
	Subscribe() (<-chan Event, func())
}

// Options of a Server.
type Options struct {
	// Bearers are the secrets that changing requests may be proved with: Bearer
	// of RELAY_TOKEN and, during a rotation, of RELAY_TOKEN_OLD. None accepted
	// means none possible.
	Bearers []string
	// Metrics answers /metrics; nil leaves it out.
	Metrics http.Handler
	// Version is told in the Server header.
	Version string
}

// Server answers on a loopback listener.
type Server struct {
	src      Source
	opt      Options
	busy     chan struct{}
	changes  chan struct{} // places apart, so that readers cannot take all
	watchers chan struct{}
	proven   chan struct{} // places of watchers that know the token
	patience time.Duration // answerTime; tests have less

	challenges *challenges
}

// NewServer returns a server for src.
func NewServer(src Source, opt Options) *Server {
	return &Server{
		src:      src,
		opt:      opt,
		busy:     make(chan struct{}, maxRequests),
		changes:  make(chan struct{}, maxChanges),
		watchers: make(chan struct{}, maxWatchers),
		proven:   make(chan struct{}, maxWatchers),
		patience: answerTime,

		challenges: newChallenges(),
	}
}

// Serve answers on ln until ctx ends, and closes ln. It returns nil after a
// wanted end. ln must come from Listen.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	tcp, ok := ln.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		_ = ln.Close()
		return fmt.Errorf("serve the local API: %s is not a loopback address", ln.Addr())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := &http.Server{
		Handler:           s.handler(tcp.Port),
		ReadHeaderTimeout: 2 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      changeTime + 2*time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withConn,
		ErrorLog:          discardLog(),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done()
		stop, end := context.WithTimeout(context.Background(), closeTime)
		defer end()
		if srv.Shutdown(stop) != nil {
			_ = srv.Close()
		}
	}()
	err := srv.Serve(&gate{Listener: ln})
	cancel()
	<-done
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve the local API on %s: %w", ln.Addr(), err)
}

// handler is the whole tree, behind the checks every request must pass.
func (s *Server) handler(port int) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /v1/members", s.reading(s.members))
	mux.Handle("GET /v1/leader", s.reading(s.leader))
	mux.Handle("GET /v1/status", s.reading(s.status))
	mux.Handle("GET /v1/history", s.reading(s.history))
	mux.Handle("GET /healthz", s.reading(s.healthz))
	mux.HandleFunc("GET "+challengePath, s.challenge)
	mux.HandleFunc("GET /v1/watch", s.watch)
	mux.Handle("POST /v1/handoff", s.changing(s.handoff))
	mux.Handle("POST /v1/drain", s.changing(s.drain(true)))
	mux.Handle("POST /v1/survey", s.changing(s.survey))
	mux.Handle("POST /v1/undrain", s.changing(s.drain(false)))
	if s.opt.Metrics != nil {
		mux.Handle("GET /metrics", counted(s.busy, s.opt.Metrics.ServeHTTP))
	}
	mux.HandleFunc("/", notFound)
	return s.guarded(port, mux)
}
