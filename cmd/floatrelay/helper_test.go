package main

import (
	"bytes"
	"context"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the tests with -update to make it")
	require.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got)
}

// result is what a command line did.
type result struct {
	code     int
	out, err string
}

// cli runs one command line in this process.
func cli(t *testing.T, args ...string) result {
	t.Helper()
	return cliContext(t.Context(), nil, args...)
}

func cliContext(ctx context.Context, env []string, args ...string) result {
	var out, errs bytes.Buffer
	code := Main(ctx, args, strings.NewReader(""), &out, &errs, env)
	return result{code, out.String(), errs.String()}
}

// site is a daemon with fixed answers.
type site struct {
	hub localapi.Hub

	mu      sync.Mutex
	members localapi.Members
	leader  *localapi.Leader
	status  localapi.Status
	to      []string
	drained []bool
	refuse  error
	after   *localapi.Leader // who leads once a handoff was asked for
	yields  int              // how many looks at the status after a drain until it leads no more; 0: it goes on
}

func (s *site) Members() localapi.Members { return s.members }

func (s *site) Status() localapi.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.drained) > 0 && s.yields > 0 {
		if s.yields--; s.yields == 0 {
			s.status.Role = "ineligible"
		}
	}
	return s.status
}

func (s *site) Leader() (localapi.Leader, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leader == nil {
		return localapi.Leader{}, false
	}
	return *s.leader, true
}

func (s *site) Handoff(_ context.Context, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = append(s.to, to)
	if s.after != nil && s.refuse == nil {
		s.leader = s.after
	}
	return s.refuse
}

func (s *site) Drain(_ context.Context, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drained = append(s.drained, on)
	return s.refuse
}

// Survey finds every member that is up in order.
func (s *site) Survey(context.Context) (localapi.Survey, error) {
	out := localapi.Survey{Self: s.members.Self, KMSN: s.members.KMSN, Share: shareID}
	_, east := time.Now().Zone()
	for _, m := range s.members.Members {
		if m.ID != s.members.Self && !m.Off() {
			out.Members = append(out.Members, localapi.Surveyed{
				ID: m.ID, Station: m.Station, Addr: m.Addr, State: m.State, Share: shareID, Version: m.Version, Asked: true, Answered: true,
				UDPOut: true, UDPBack: true, TCPOut: true, TCPBack: true, ZoneSec: east,
			})
		}
	}
	return out, nil
}

func (s *site) Subscribe() (<-chan localapi.Event, func()) { return s.hub.Subscribe() }

const (
	testKMSN  = "4711"
	testToken = "ruqpbha7q2ubtb57ue4bo24pin3sq7n6"
)

// serving answers for s until the test ends.
func serving(t *testing.T, s localapi.Source) (addr string) {
	t.Helper()
	ln, err := localapi.Listen("127.0.0.1:0")
	require.NoError(t, err)
	srv := localapi.NewServer(s, localapi.Options{Bearers: []string{localapi.Bearer(testToken, testKMSN)}, Version: "test"})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return ln.Addr().String()
}

// ini writes a valid stk.ini plus the lines given, and returns its path.
func ini(t *testing.T, lines ...string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "stk.ini")
	text := "[RELAY]\r\nKMSN=" + testKMSN + "\r\nSTATION=POS-01\r\nRELAY_TOKEN=" + testToken +
		"\r\nLEASE_DIR=" + dir + "\r\nSTATE_DIR=" + dir + "\r\n" + strings.Join(lines, "\r\n") + "\r\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// unusedAddr is a loopback address nobody answers at.
func unusedAddr(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(freePorts(t)))
}
