package localapi

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeSource answers from its fields.
type fakeSource struct {
	hub Hub

	mu      sync.Mutex
	members Members
	leader  *Leader
	status  Status
	to      []string // handoffs asked for
	drained []bool
	refuse  error
	block   chan struct{} // when set, Status waits for it to be closed
}

func (f *fakeSource) Members() Members { return f.members }

func (f *fakeSource) Leader() (Leader, bool) {
	if f.leader == nil {
		return Leader{}, false
	}
	return *f.leader, true
}

func (f *fakeSource) Status() Status {
	if f.block != nil {
		<-f.block
	}
	return f.status
}

func (f *fakeSource) Handoff(_ context.Context, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = append(f.to, to)
	return f.refuse
}

func (f *fakeSource) Drain(_ context.Context, on bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drained = append(f.drained, on)
	return f.refuse
}

func (f *fakeSource) Subscribe() (<-chan Event, func()) { return f.hub.Subscribe() }

var errRefused = errors.New("POS-02 is not eligible: drained")

// serve runs a server of src on a free loopback port until the test ends.
func serve(t *testing.T, src Source, opt Options) (addr string) {
	t.Helper()
	return serveOn(t, NewServer(src, opt))
}

func serveOn(t *testing.T, s *Server) (addr string) {
	t.Helper()
	ln, err := Listen("127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return ln.Addr().String()
}

func client(t *testing.T, addr, bearer string) *Client {
	t.Helper()
	c, err := NewClient(addr, bearer)
	require.NoError(t, err)
	return c
}

// request sends a raw request and returns the status code.
func request(t *testing.T, r *http.Request) int {
	t.Helper()
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// authorize proves a request as the client does.
func authorize(t *testing.T, r *http.Request, addr, key, body string) {
	t.Helper()
	c := newNonce()
	resp, err := http.Get("http://" + addr + challengePath + "?c=" + c)
	require.NoError(t, err)
	defer resp.Body.Close()
	var given challengeJSON
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&given))
	r.Header.Set("Authorization", strings.Join([]string{authScheme, c, given.S, clientMAC(key, addr, r.Method, r.URL.Path, c, given.S, []byte(body))}, " "))
}

// closedPort returns an address nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	return ln.Addr().String()
}
