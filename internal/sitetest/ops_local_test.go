package sitetest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
)

// Another program holds API_ADDR and calls itself floatrelay: the daemon leads
// all the same and every member shows what is wrong there; the program learns
// nothing from the commands; once it ends, the daemon has its API.
func TestHole14_AddressTaken(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 2, Extra: quick()})
	n, other := s.Nodes[0], s.Nodes[1]
	ln, err := net.Listen("tcp", n.API)
	require.NoError(t, err)
	var mu sync.Mutex
	var heard strings.Builder
	impostor := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		fmt.Fprintln(&heard, r.Method, r.URL.Path, r.Header["Authorization"], string(body))
		mu.Unlock()
		w.Header().Set("Server", localapi.ServerName+"/9.9.9")
		_, _ = io.WriteString(w, `{"ok":true,"s":"0","proofs":["0"]}`)
	})}
	go func() { _ = impostor.Serve(ln) }()
	defer impostor.Close()

	require.NoError(t, n.Start())
	s.until(slack+quickTTL, "it leads", func() error {
		r, err := s.Head(t.Context())
		if err == nil && (r.Station != n.Station || r.Epoch == 0) {
			err = fmt.Errorf("%w: record %d of %q, epoch %d", errNotYet, r.Rev, r.Station, r.Epoch)
		}
		return err
	})
	require.NoError(t, other.Start())
	s.member(other, n, "says so", func(m localapi.Member) bool { return strings.Contains(m.Note, "API_ADDR "+n.API) })
	for _, args := range [][]string{{"drain"}, {"handoff", other.Station}} {
		out, err := exec.Command(exe, append(args, "--config", n.ConfigPath())...).CombinedOutput()
		var end *exec.ExitError
		require.ErrorAs(t, err, &end)
		require.Contains(t, string(out), "did not prove")
	}
	mu.Lock()
	for line := range strings.Lines(heard.String()) {
		require.Regexp(t, `^GET /v1/(challenge|leader) \[\] *\n$`, line, "neither a proof nor an order")
	}
	mu.Unlock()
	s.logs(n, "runs without its local API")

	require.NoError(t, impostor.Close())
	s.status(n, "has its API", func(x localapi.Status) bool { return x.Role == "leader" && !strings.Contains(x.Note, "API_ADDR") })
	s.member(other, n, "says nothing any more", func(m localapi.Member) bool { return m.Role == "leader" && !strings.Contains(m.Note, "API_ADDR") })
	s.stays(n, s.status(n, "leads", func(localapi.Status) bool { return true }).Epoch, time.Second)
}
