package daemon

import (
	"context"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/reason"
)

// apiRetry is how often an API_ADDR that another program holds is tried.
const apiRetry = 2 * time.Second

// apiAddr is the address of the local API. That another program holds it costs
// this PC its commands, not the site its relay: the daemon runs without it, says
// so, and takes the address when it is free.
type apiAddr struct {
	addr string

	mu  sync.Mutex
	ln  net.Listener // opened and not served yet
	why error        // the address cannot be opened
}

// open opens the address if it can be. The error is one of API_ADDR itself.
func (a *apiAddr) open(addr string) error {
	if err := localapi.CheckAddr(addr); err != nil {
		return err
	}
	a.addr = addr
	_ = a.try() // the note tells why it is not open
	return nil
}

// try opens the address, unless that was done already, and returns why it
// cannot be opened.
func (a *apiAddr) try() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ln == nil {
		a.ln, a.why = localapi.Listen(a.addr)
	}
	return a.why
}

// take returns the listener for the one who serves it, or nil.
func (a *apiAddr) take() net.Listener {
	a.mu.Lock()
	defer a.mu.Unlock()
	ln := a.ln
	a.ln = nil
	return ln
}

// close closes a listener that nobody has taken.
func (a *apiAddr) close() {
	if ln := a.take(); ln != nil {
		_ = ln.Close()
	}
}

// reasons are what members are told.
func (a *apiAddr) reasons() []reason.Reason {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.why == nil {
		return nil
	}
	return []reason.Reason{{Code: reason.NoAPI, Addr: a.addr}}
}

// serveAPI answers on API_ADDR, as soon as it can be opened.
func (d *Daemon) serveAPI(ctx context.Context) {
	bearers := []string{localapi.Bearer(string(d.cfg.Token), d.cfg.KMSN)}
	if d.cfg.OldToken != "" {
		bearers = append(bearers, localapi.Bearer(string(d.cfg.OldToken), d.cfg.KMSN))
	}
	srv := localapi.NewServer(d, localapi.Options{Bearers: bearers, Version: d.opt.Version, Metrics: d.seen.metrics.Handler()})
	if !d.awaitAPI(ctx) {
		return
	}
	if err := srv.Serve(ctx, d.api.take()); err != nil {
		d.log.Error("local API ended", zap.Error(err))
	}
}

// awaitAPI tries until API_ADDR is open and reports whether it is.
func (d *Daemon) awaitAPI(ctx context.Context) bool {
	err := d.api.try()
	if err == nil {
		return true
	}
	d.tell(true, reason.Reason{Code: reason.APIClosed, Detail: err.Error()})
	for {
		if !sleep(ctx, apiRetry) {
			return false
		}
		if d.api.try() == nil {
			d.tell(false, reason.Reason{Code: reason.APIOpen, Addr: d.api.addr})
			return true
		}
	}
}
