package sitetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
)

const opsWrongToken = "a-token-somebody-guessed-wrong"

// A daemon without the token, with write access to the share and the address of
// every member, neither joins nor leads nor makes anybody step down.
func TestOps_AbuseStrangerWithTheShare(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 3, Extra: steady(), Adjust: func(i int, keys map[string]string) {
		if i == 2 {
			keys["RELAY_TOKEN"], keys["RELAY_PRIORITY"], keys["RELAY_PREEMPT"] = opsWrongToken, "1000", "1"
		}
	}})
	stranger := s.Nodes[2]
	require.NoError(t, s.Nodes[0].Start())
	n, st := s.leader(0, slack)
	require.NoError(t, s.Nodes[1].Start())
	s.roster(1)
	require.NoError(t, stranger.Start())
	s.status(stranger, "sees a record it cannot verify", func(x localapi.Status) bool { return x.Rev >= st.Rev && strings.Contains(x.Note, "MAC") })
	s.stays(n, st.Epoch, 25*time.Second) // longer than TTL_MAX'
	require.NotEqual(t, "leader", s.status(stranger, "answers", func(localapi.Status) bool { return true }).Role)
	members, err := n.Members(t.Context())
	require.NoError(t, err)
	for _, m := range members.Members {
		require.NotEqual(t, stranger.Station, m.Station, "it joined")
	}
	r := s.roster(1)
	id, err := os.ReadFile(filepath.Join(s.Nodes[1].StateDir(), "node"))
	require.NoError(t, err)
	require.Len(t, r.Roster, 1)
	require.Equal(t, strings.TrimSpace(string(id)), r.Roster[0].Node, "the stranger is not on it")
}

// Without the token nothing can be changed through the API; what a web page or
// another PC could send is refused; reading needs no token.
func TestOps_AbuseAPI(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Nodes: 2, Extra: steady()})
	s.roster(1)
	ask := func(method, path, host string, header map[string]string, body string) (int, string) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, method, "http://"+n.API+path, strings.NewReader(body))
		require.NoError(t, err)
		if host != "" {
			req.Host = host
		}
		for k, v := range header {
			req.Header.Set(k, v)
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(text)
	}
	bearer := localapi.Bearer(localsite.Token, localsite.KMSN)
	for _, path := range []string{"/v1/handoff", "/v1/drain", "/v1/undrain"} {
		for name, c := range map[string]struct {
			host   string
			header map[string]string
			body   string
			code   int
		}{
			"no token":                   {"", nil, "", 401},
			"the token itself":           {"", map[string]string{"Authorization": "Bearer " + localsite.Token}, "", 401},
			"no answer to a challenge":   {"", map[string]string{"Authorization": "Bearer " + bearer}, "", 401},
			"a body without an end":      {"", nil, `{"to":"` + strings.Repeat("x", 1<<20) + `"}`, 401},
			"a name that is not this PC": {"evil.example", nil, "", 421},
			"a web page":                 {"", map[string]string{"Origin": "http://evil.example"}, "", 403},
		} {
			code, _ := ask("POST", path, c.host, c.header, c.body)
			require.Equal(t, c.code, code, "%s: %s", path, name)
		}
		code, _ := ask("GET", path, "", nil, "")
		require.NotEqual(t, 200, code, path)
	}
	for name, wrong := range map[string]string{
		"wrong token": localapi.Bearer(opsWrongToken, localsite.KMSN), "another site": localapi.Bearer(localsite.Token, "0815"), "none": "",
	} {
		c, err := localapi.NewClient(n.API, wrong)
		require.NoError(t, err)
		var refused *localapi.RefusedError
		for _, err := range []error{c.Handoff(t.Context(), ""), c.Drain(t.Context()), c.Undrain(t.Context())} {
			require.ErrorAs(t, err, &refused, name)
			require.Equal(t, http.StatusUnauthorized, refused.Code, name)
		}
	}
	s.stays(n, st.Epoch, time.Second)
	for _, path := range []string{"/v1/members", "/v1/status", "/v1/leader", "/v1/history", "/metrics", "/healthz"} {
		code, text := ask("GET", path, "", nil, "")
		require.Equal(t, 200, code, path)
		require.NotContains(t, text, localsite.Token, path)
		code, _ = ask("GET", path, "evil.example", nil, "")
		require.Equal(t, 421, code, path)
	}
	s.until(slack, "the metrics tell of it", func() error { // a busy machine may suspect the other for a moment
		_, text := ask("GET", "/metrics", "", nil, "")
		for _, line := range []string{`floatrelay_role{role="leader"} 1`, `floatrelay_members{state="alive"} 2`, `floatrelay_takeovers_total{reason="released"} 1`} {
			if !strings.Contains(text, line) {
				return fmt.Errorf("no %s in:\n%s", line, text)
			}
		}
		return nil
	})
}
