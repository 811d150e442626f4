package localapi

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClient_ReadsWhatTheSourceSays(t *testing.T) {
	rtt := 0.4
	src := &fakeSource{
		members: Members{KMSN: "4711", Self: "a/1", Leader: "a/1", Members: []Member{{ID: "a/1", Station: "站一", RTT: rtt}}},
		leader:  &Leader{KMSN: "4711", Station: "站一", IP: "192.168.1.10", Port: 9530, Epoch: 42, Ready: true},
		status:  Status{Role: "leader", Share: ShareStatus{LastOKMS: -1}},
	}
	c := client(t, serve(t, src, Options{Version: "1.2.3"}), "")
	members, err := c.Members(t.Context())
	require.NoError(t, err)
	require.Equal(t, src.members, members)
	leader, ok, err := c.Leader(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, *src.leader, leader)
	status, err := c.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, src.status, status)
}

func TestClient_NobodyLeadsIsNoError(t *testing.T) {
	c := client(t, serve(t, &fakeSource{}, Options{}), "")
	_, ok, err := c.Leader(t.Context())
	require.NoError(t, err)
	require.False(t, ok)
}

func TestClient_Changes(t *testing.T) {
	src := &fakeSource{}
	c := client(t, serve(t, src, Options{Bearers: []string{"b"}}), "b")
	require.NoError(t, c.Handoff(t.Context(), "POS-02"))
	require.NoError(t, c.Handoff(t.Context(), ""))
	require.NoError(t, c.Drain(t.Context()))
	require.NoError(t, c.Undrain(t.Context()))
	require.Equal(t, []string{"POS-02", ""}, src.to)
	require.Equal(t, []bool{true, false}, src.drained)
}

func TestClient_RefusalsKeepTheirReason(t *testing.T) {
	src := &fakeSource{refuse: errRefused}
	addr := serve(t, src, Options{Bearers: []string{"b"}})
	var refused *RefusedError
	err := client(t, addr, "b").Handoff(t.Context(), "POS-02")
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusConflict, refused.Code)
	require.Equal(t, errRefused.Error(), refused.Reason)
	require.NotErrorIs(t, err, ErrNoDaemon)

	err = client(t, addr, "wrong").Drain(t.Context())
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusUnauthorized, refused.Code)
}

func TestClient_NoDaemon(t *testing.T) {
	t.Run("nobody listens", func(t *testing.T) {
		_, err := client(t, closedPort(t), "").Status(t.Context())
		require.ErrorIs(t, err, ErrNoDaemon)
	})
	t.Run("nobody is there is not frozen", func(t *testing.T) {
		_, err := client(t, closedPort(t), "").Status(t.Context())
		require.NotErrorIs(t, err, ErrSilent)
	})
	t.Run("another program answers", func(t *testing.T) {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("{}"))
		}))
		defer other.Close()
		_, err := client(t, other.Listener.Addr().String(), "").Status(t.Context())
		require.ErrorIs(t, err, ErrNoDaemon)
		require.ErrorContains(t, err, "another program")
	})
	t.Run("frozen", func(t *testing.T) {
		ln, err := net.Listen("tcp", "127.0.0.1:0") // accepts into its backlog only
		require.NoError(t, err)
		defer ln.Close()
		// A busy machine may not have connected yet when a short patience ends.
		for patience := 50 * time.Millisecond; patience < 20*time.Second; patience *= 4 {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			_, err = client(t, ln.Addr().String(), "").Status(ctx)
			cancel()
			require.ErrorIs(t, err, ErrNoDaemon)
			if errors.Is(err, ErrSilent) {
				break
			}
		}
		require.ErrorIs(t, err, ErrSilent)
	})
}

// Whoever holds API_ADDR and calls itself floatrelay learns nothing: neither the
// bearer nor a proof that it could pass on.
func TestHole14_NothingIsSentToAnImpostor(t *testing.T) {
	daemon := serve(t, &fakeSource{}, Options{Bearers: []string{"b"}})
	for name, impostor := range map[string]http.HandlerFunc{
		"knows nothing": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) },
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+daemon+r.URL.String(), http.StatusTemporaryRedirect)
		},
		"is older": func(w http.ResponseWriter, r *http.Request) { fail(w, http.StatusNotFound, "no such request") },
		"asks the real one": func(w http.ResponseWriter, r *http.Request) {
			resp, err := http.Get("http://" + daemon + r.URL.String())
			if err == nil {
				defer resp.Body.Close()
				_, _ = io.Copy(w, resp.Body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				seen = append(seen, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+string(body))
				w.Header().Set("Server", ServerName)
				impostor(w, r)
			}))
			defer other.Close()
			c := client(t, other.Listener.Addr().String(), "b")
			_, _ = c.Status(t.Context())
			var refused *RefusedError
			require.ErrorAs(t, c.Drain(t.Context()), &refused)
			require.Equal(t, http.StatusUnauthorized, refused.Code)
			require.ErrorAs(t, c.Handoff(t.Context(), "POS-02"), &refused)
			require.Equal(t, []string{"GET /v1/status ", "GET /v1/challenge ", "GET /v1/challenge "}, seen, "redirects are not followed")
		})
	}
}
