package relayproc

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

const (
	pingTimeout = 2 * time.Second
	missesMax   = 3 // pings in a row without an answer
	ownerEvery  = 5 // pings per look at whose listener it is
	lookFirst   = 5 * time.Millisecond
	lookMax     = 100 * time.Millisecond
)

// verdict is what health tells: ready, or that the relay must go and why.
type verdict struct {
	ready bool
	pid   int
	cause Cause
	note  string
}

// health finds out whether the relay serves. It runs in the daemon.
type health struct {
	g    *Guard
	spec Spec

	first int      // the relay's first process
	known []uint64 // listeners already found to be ours
	pid   int      // of the listener on RELAY_PORT
}

func (h *health) run(ctx context.Context) {
	v := h.untilReady(ctx)
	h.tell(ctx, v)
	if v.ready {
		h.tell(ctx, h.whileReady(ctx))
	}
}

func (h *health) tell(ctx context.Context, v verdict) {
	if ctx.Err() != nil {
		return
	}
	select {
	case h.g.health <- v:
	case <-ctx.Done():
	}
}

// untilReady waits for the relay to serve: a slow start is no failure before
// StartTimeout.
func (h *health) untilReady(ctx context.Context) verdict {
	tctx, cancel := context.WithTimeout(ctx, h.spec.StartTimeout)
	defer cancel()
	last := errors.New("nothing listens")
	for pause := lookFirst; ; pause = min(pause*5/4, lookMax) {
		var foreign *foreignError
		err := h.check(tctx)
		switch {
		case err == nil:
			return verdict{ready: true, pid: h.pid}
		case errors.As(err, &foreign):
			return verdict{cause: Failed, note: err.Error()}
		case tctx.Err() == nil:
			last = err
		}
		if !pauseFor(tctx, pause) {
			return verdict{cause: NotReady, note: fmt.Sprintf("not ready within %v: %v", h.spec.StartTimeout, last)}
		}
	}
}

// whileReady pings until too many pings in a row went unanswered.
func (h *health) whileReady(ctx context.Context) verdict {
	misses := 0
	for n := 1; pauseFor(ctx, h.spec.PingEvery); n++ {
		var foreign *foreignError
		err := h.glance(ctx, n%ownerEvery == 0)
		switch {
		case err == nil:
			misses = 0
		case errors.As(err, &foreign):
			return verdict{cause: Failed, note: err.Error()}
		default:
			misses++
		}
		if misses >= missesMax {
			return verdict{cause: NotReady, note: fmt.Sprintf("stopped answering: %v", err)}
		}
	}
	return verdict{}
}

// check looks for the listener, whose it is, and whether it answers. The look
// at the table comes first: a connect to a closed port takes 2 s on Windows.
func (h *health) check(ctx context.Context) error {
	if err := h.checkOwner(ctx); err != nil {
		return err
	}
	pctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return ping(pctx, h.spec)
}

// glance pings; only now and then, or with whose set, does it look whose the
// listener is: the system's table of connections is long on a busy PC.
func (h *health) glance(ctx context.Context, whose bool) error {
	if whose {
		return h.check(ctx)
	}
	pctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return ping(pctx, h.spec)
}

// foreignError says that a port of the relay has a listener that is not ours.
type foreignError struct{ Holder Holder }

func (e *foreignError) Error() string {
	return fmt.Sprintf("port %d is also held by %v", e.Holder.Port, e.Holder)
}

// checkListener finds the listener's owner. Mostly that is the relay's first
// process, which needs neither a search nor a question.
func (h *health) checkListener(ctx context.Context, l listener) error {
	if h.first != 0 && l.still(h.first) {
		h.found(l, h.first)
		return nil
	}
	holder := l.holder()
	if holder.PID == 0 && trustUnknownOwner {
		h.found(l, h.first)
		return nil
	}
	if holder.PID == 0 {
		return fmt.Errorf("the owner of port %d cannot be found", l.port)
	}
	actx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	ours, err := h.g.owns(actx, holder.PID)
	switch {
	case err != nil:
		return err
	case !ours && !l.still(holder.PID):
		return fmt.Errorf("the owner of port %d has just changed", l.port)
	case !ours:
		return &foreignError{holder}
	}
	h.found(l, holder.PID)
	return nil
}

func (h *health) found(l listener, pid int) {
	if l.port == h.spec.Port {
		h.pid = pid
	}
}

// ping connects, and with PingHello also asks for an answer.
func ping(ctx context.Context, spec Spec) error {
	d := net.Dialer{KeepAlive: -1} // it is closed at once
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(dialAddr(spec.Addr), strconv.Itoa(spec.Port)))
	if err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	defer conn.Close()
	if spec.Ping != PingHello {
		return nil
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	return pingHello(conn, spec)
}

// dialAddr is where a relay that listens everywhere is reached.
func dialAddr(addr string) string {
	if ip := net.ParseIP(addr); ip == nil || ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return addr
}

// pingHello speaks the stand-in's framing: four bytes of length, then JSON.
func pingHello(conn net.Conn, spec Spec) error {
	body, err := json.Marshal(map[string]any{
		"type": "hello", "kmsn": spec.KMSN, "station": spec.Station, "ping": true,
	})
	if err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	if _, err := conn.Write(append(frame, body...)); err != nil {
		return fmt.Errorf("ping: send hello: %w", err)
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return fmt.Errorf("ping: no answer to hello: %w", err)
	}
	return nil
}

// pauseFor waits and reports whether ctx is still alive.
func pauseFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
