package localapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// ErrNoDaemon means that nothing which is a floatrelay daemon answers at the
// address.
var ErrNoDaemon = errors.New("no floatrelay daemon reachable")

// ErrSilent is an ErrNoDaemon of another kind: something holds the address and
// takes the connection, but says nothing. A daemon that is frozen does that, as
// the system accepts for it.
var ErrSilent = fmt.Errorf("%w", ErrNoDaemon)

// RefusedError is an answer of the daemon that is not a success.
type RefusedError struct {
	Code   int    // HTTP status
	Reason string // the daemon's words
}

// Error returns the daemon's words.
func (e *RefusedError) Error() string { return e.Reason }

// silentTime is when a daemon that has said nothing counts as frozen: it
// answers after answerTime itself, even if what it asks is stuck, and the user
// hears of it within 2 s.
const silentTime = answerTime + 300*time.Millisecond

// Client asks the daemon of this PC.
type Client struct {
	addr    string
	bearers []string
	http    *http.Client
}

// NewClient returns a client of the daemon at addr (host:port, loopback only).
// Changes are proved with the bearer that the daemon knows: while a token is
// changed, it may still be the one that was started with the old one. The bearers
// themselves are never sent. Empty ones are left out; without any, only reading
// is possible.
func NewClient(addr string, bearers ...string) (*Client, error) {
	if err := CheckAddr(addr); err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: time.Second}
	bearers = slices.DeleteFunc(slices.Clone(bearers), func(b string) bool { return b == "" })
	return &Client{addr: addr, bearers: bearers, http: &http.Client{
		Transport: &http.Transport{
			DialContext:           dialer.DialContext, // and no proxy
			ResponseHeaderTimeout: changeTime + time.Second,
			DisableKeepAlives:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Addr returns the address asked.
func (c *Client) Addr() string { return c.addr }

// Members returns the member table.
func (c *Client) Members(ctx context.Context) (Members, error) {
	var m Members
	return m, c.get(ctx, "/v1/members", &m)
}

// Status returns the daemon's view of itself.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	return s, c.get(ctx, "/v1/status", &s)
}

// Leader returns where the relay is, and false if nobody leads.
func (c *Client) Leader(ctx context.Context) (Leader, bool, error) {
	var l Leader
	err := c.get(ctx, "/v1/leader", &l)
	var refused *RefusedError
	if errors.As(err, &refused) && refused.Code == http.StatusNotFound {
		return Leader{}, false, nil
	}
	return l, err == nil, err
}

// Handoff asks the daemon to give the lease to a station, or to the best
// member if to is empty. It returns once the handoff has begun.
func (c *Client) Handoff(ctx context.Context, to string) error {
	body, err := json.Marshal(handoffJSON{To: to})
	if err != nil {
		return fmt.Errorf("encode the handoff: %w", err)
	}
	return c.post(ctx, "/v1/handoff", body)
}

// Drain makes the daemon ineligible until Undrain.
func (c *Client) Drain(ctx context.Context) error { return c.post(ctx, "/v1/drain", nil) }

// Undrain takes a Drain back.
func (c *Client) Undrain(ctx context.Context) error { return c.post(ctx, "/v1/undrain", nil) }

// Watch calls f with each event until ctx ends (then the error is nil), f
// returns an error, or the daemon ends (ErrNoDaemon).
func (c *Client) Watch(ctx context.Context, f func(Event) error) error {
	auth, err := c.prove(ctx, http.MethodGet, "/v1/watch", nil)
	if errors.Is(err, ErrNoDaemon) {
		return ended(ctx, err)
	} // else watching needs no proof
	resp, err := c.do(ctx, http.MethodGet, "/v1/watch", auth, nil)
	if err != nil {
		return ended(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 64<<10)
	for lines.Scan() {
		var ev Event
		if err := json.Unmarshal(lines.Bytes(), &ev); err != nil {
			return fmt.Errorf("read an event of the daemon: %w", err)
		}
		if err := f(ev); err != nil {
			return err
		}
	}
	return ended(ctx, fmt.Errorf("%w: the daemon at %s ended the watch", ErrNoDaemon, c.addr))
}

func ended(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return err
}

func (c *Client) get(ctx context.Context, path string, into any) error {
	// A frozen daemon still gets its connections accepted by the system.
	ctx, cancel := context.WithTimeout(ctx, silentTime)
	defer cancel()
	resp, err := c.do(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("read the daemon's answer to %s: %w", path, err)
	}
	return nil
}

// prove has the daemon prove itself and returns what to put into Authorization.
// A daemon that proves nothing is told nothing: the error is a RefusedError. It
// goes before requests that may take longer than a frozen daemon should keep
// anybody waiting.
func (c *Client) prove(ctx context.Context, method, path string, body []byte) (auth string, err error) {
	var given challengeJSON
	n := newNonce()
	err = c.get(ctx, challengePath+"?c="+n, &given)
	var refused *RefusedError
	if err != nil && !errors.As(err, &refused) {
		return "", err
	}
	for _, key := range c.bearers {
		if slices.Contains(given.Proofs, daemonMAC(key, c.addr, n, given.S)) {
			return authScheme + " " + n + " " + given.S + " " + clientMAC(key, c.addr, method, path, n, given.S, body), nil
		}
	}
	return "", &RefusedError{Code: http.StatusUnauthorized, Reason: c.addr + ": " + errUnproven.Error()}
}

// post asks for a change.
func (c *Client) post(ctx context.Context, path string, body []byte) error {
	return c.postInto(ctx, path, body, nil)
}

// postInto is post that reads the answer, unless into is nil.
func (c *Client) postInto(ctx context.Context, path string, body []byte, into any) error {
	auth, err := c.prove(ctx, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	return c.postAs(ctx, path, auth, body, into)
}

func (c *Client) postAs(ctx context.Context, path, auth string, body []byte, into any) error {
	resp, err := c.do(ctx, http.MethodPost, path, auth, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return refusal(resp)
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("read the daemon's answer to %s: %w", path, err)
	}
	return nil
}

// do sends one request. An answer that does not name itself as ours is the
// same as none.
func (c *Client) do(ctx context.Context, method, path, auth string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.addr+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the daemon at %s: %w", c.addr, err)
	}
	if auth != "" {
		req.Header.Set("Authorization", auth)
	}
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	resp, err := c.http.Do(req.WithContext(httptrace.WithClientTrace(ctx, trace)))
	switch {
	case err == nil:
	case connected.Load() && timedOut(err):
		return nil, fmt.Errorf("%w at %s: it takes the connection but does not answer", ErrSilent, c.addr)
	default:
		return nil, fmt.Errorf("%w at %s: %w", ErrNoDaemon, c.addr, cause(err))
	}
	if !strings.HasPrefix(resp.Header.Get("Server"), ServerName) {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w at %s: another program answers there", ErrNoDaemon, c.addr)
	}
	return resp, nil
}

// cause strips what net/http and net say about the request: the address is
// named already.
func cause(err error) error {
	if timedOut(err) {
		return errors.New("it does not answer")
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

func timedOut(err error) bool { return errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err) }

func refusal(resp *http.Response) error {
	var e errorJSON
	b, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if json.Unmarshal(b, &e) != nil || e.Error == "" {
		e.Error = "the daemon answered " + resp.Status
	}
	return &RefusedError{Code: resp.StatusCode, Reason: e.Error}
}
