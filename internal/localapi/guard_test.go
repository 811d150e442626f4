package localapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCheckAddr_AllowsLoopbackOnly(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:9532", "127.8.9.10:1", "[::1]:9532", "localhost:0", "[::ffff:127.0.0.1]:80"} {
		require.NoError(t, CheckAddr(addr), addr)
	}
	for _, addr := range []string{
		"", "9532", ":9532", "0.0.0.0:9532", "[::]:9532", "192.168.1.10:9532", "127.0.0.1",
		"127.0.0.1:x", "127.0.0.1:70000", "pos-01:9532", "localhost.example:9532", "127.1:9532", "[::1%lo]:1",
	} {
		require.Error(t, CheckAddr(addr), addr)
		_, err := Listen(addr)
		require.Error(t, err, addr)
		_, err = NewClient(addr, "")
		require.Error(t, err, addr)
	}
}

func TestServer_RefusesForeignHosts(t *testing.T) {
	addr := serve(t, &fakeSource{}, Options{})
	port := addr[strings.LastIndex(addr, ":"):]
	for host, want := range map[string]int{
		addr:                    http.StatusOK,
		"localhost" + port:      http.StatusOK,
		"[::1]" + port:          http.StatusOK,
		"127.0.0.1":             http.StatusMisdirectedRequest,
		"127.0.0.1:1":           http.StatusMisdirectedRequest,
		"evil.example" + port:   http.StatusMisdirectedRequest,
		"127.0.0.1.evil" + port: http.StatusMisdirectedRequest,
		"192.168.1.10" + port:   http.StatusMisdirectedRequest,
	} {
		r, err := http.NewRequest(http.MethodGet, "http://"+addr+"/v1/status", nil)
		require.NoError(t, err)
		r.Host = host
		require.Equal(t, want, request(t, r), host)
	}
}

func TestServer_RefusesWebPages(t *testing.T) {
	addr := serve(t, &fakeSource{}, Options{})
	r, err := http.NewRequest(http.MethodGet, "http://"+addr+"/v1/status", nil)
	require.NoError(t, err)
	r.Header.Set("Origin", "http://"+addr)
	require.Equal(t, http.StatusForbidden, request(t, r))
}

func TestServer_ChangesNeedAProof(t *testing.T) {
	src := &fakeSource{}
	right, old := Bearer("new", "4711"), Bearer("old", "4711")
	addr := serve(t, src, Options{Bearers: []string{"", right, old}})
	changed := func() int { return len(src.to) + len(src.drained) }
	for _, path := range []string{"/v1/handoff", "/v1/drain", "/v1/undrain"} {
		for key, want := range map[string]int{
			right: http.StatusOK, old: http.StatusOK,
			"": http.StatusUnauthorized, right[1:]: http.StatusUnauthorized, Bearer("new", "0815"): http.StatusUnauthorized,
		} {
			before := changed()
			r := post(t, addr, path, "")
			authorize(t, r, addr, key, "")
			require.Equal(t, want, request(t, r), "%s with %q", path, key)
			require.Equal(t, want == http.StatusOK, changed() > before)
			if want == http.StatusOK {
				again := post(t, addr, path, "")
				again.Header = r.Header
				require.Equal(t, http.StatusUnauthorized, request(t, again), "a proof is good for one request")
			}
		}
		before := changed()
		for _, header := range []string{"", "Bearer", "Bearer " + right, authScheme, authScheme + " a b c", authScheme + "   "} {
			r := post(t, addr, path, "")
			r.Header.Set("Authorization", header)
			require.Equal(t, http.StatusUnauthorized, request(t, r), header)
		}
		require.Equal(t, before, changed())
	}
	for name, spoil := range map[string]func(r, other *http.Request){
		"another path":   func(r, other *http.Request) { r.URL.Path = "/v1/undrain" },
		"another host":   func(r, other *http.Request) { r.Host = "localhost" + addr[strings.LastIndex(addr, ":"):] },
		"another body":   func(r, other *http.Request) { r.Body, r.ContentLength = other.Body, other.ContentLength },
		"another secret": func(r, other *http.Request) { r.Header.Set("Authorization", r.Header.Get("Authorization")+"0") },
		"own challenge": func(r, other *http.Request) {
			f := strings.Fields(r.Header.Get("Authorization"))
			f[2] = strings.Repeat("0", len(f[2]))
			f[3] = clientMAC(right, addr, r.Method, r.URL.Path, f[1], f[2], nil)
			r.Header.Set("Authorization", strings.Join(f, " "))
		},
	} {
		before := changed()
		r := post(t, addr, "/v1/handoff", "")
		authorize(t, r, addr, right, "")
		spoil(r, post(t, addr, "/v1/handoff", `{"to":"POS-02"}`))
		require.Equal(t, http.StatusUnauthorized, request(t, r), name)
		require.Equal(t, before, changed(), name)
	}
}

func TestChallenges_EndByThemselves(t *testing.T) {
	x := newChallenges()
	now := time.Now()
	x.now = func() time.Time { return now }
	c := newNonce()
	s := x.give(c)
	require.True(t, x.fresh(c, s))
	require.False(t, x.fresh(newNonce(), s))
	require.False(t, newChallenges().fresh(c, s), "of another run")
	require.True(t, x.use(s))
	require.False(t, x.use(s))
	now = now.Add(challengeTime + time.Second)
	require.False(t, x.fresh(c, s))
	for range maxUsed + 10 {
		x.use(x.give(c))
	}
	require.LessOrEqual(t, len(x.used), maxUsed)
}

func TestServer_WithoutBearersNothingCanBeChanged(t *testing.T) {
	src := &fakeSource{}
	addr := serve(t, src, Options{Bearers: []string{Bearer("", "4711")}})
	r := post(t, addr, "/v1/drain", "")
	authorize(t, r, addr, "", "")
	require.Equal(t, http.StatusUnauthorized, request(t, r))
	require.Empty(t, src.drained)
}

func post(t *testing.T, addr, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://"+addr+path, strings.NewReader(body))
	require.NoError(t, err)
	return r
}

func TestBearer_DependsOnTokenAndSite(t *testing.T) {
	require.Len(t, Bearer("t", "k"), 64)
	require.Equal(t, Bearer("t", "k"), Bearer("t", "k"))
	require.NotEqual(t, Bearer("t", "k"), Bearer("t", "l"))
	require.NotEqual(t, Bearer("t", "k"), Bearer("u", "k"))
	require.Empty(t, Bearer("", "k"))
	require.NotContains(t, Bearer("secret-token", "k"), "secret")
}

func TestServer_BodiesAreBounded(t *testing.T) {
	src := &fakeSource{}
	addr := serve(t, src, Options{Bearers: []string{"b"}})
	for name, tc := range map[string]struct {
		body string
		want int
	}{
		"empty":       {"", http.StatusOK},
		"object":      {`{"to":"POS-02"}`, http.StatusOK},
		"too long":    {`{"to":"` + strings.Repeat("x", maxBody) + `"}`, http.StatusBadRequest},
		"blank flood": {strings.Repeat(" ", 1<<20) + `{"to":"POS-02"}`, http.StatusBadRequest},
		"not JSON":    {"POS-02", http.StatusBadRequest},
		"two objects": {`{"to":"A"}{"to":"B"}`, http.StatusBadRequest},
		"other field": {`{"station":"A"}`, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(src.to)
			r := post(t, addr, "/v1/handoff", tc.body)
			authorize(t, r, addr, "b", tc.body)
			require.Equal(t, tc.want, request(t, r))
			require.Equal(t, tc.want == http.StatusOK, len(src.to) > before)
		})
	}
}

func TestServer_UnknownPathsAndMethods(t *testing.T) {
	addr := serve(t, &fakeSource{}, Options{Bearers: []string{"b"}})
	for _, tc := range []struct{ method, path string }{
		{http.MethodGet, "/"}, {http.MethodGet, "/v1/members/x"}, {http.MethodGet, "/metrics"},
		{http.MethodGet, "/v1/handoff"}, {http.MethodPost, "/v1/members"}, {http.MethodGet, "/debug/pprof/"},
	} {
		r, err := http.NewRequest(tc.method, "http://"+addr+tc.path, nil)
		require.NoError(t, err)
		require.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, request(t, r), tc)
	}
}
