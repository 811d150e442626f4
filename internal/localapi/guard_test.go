package localapi

import (
	"net/http"
	"strings"
	"testing"

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

func TestServer_ChangesNeedTheBearer(t *testing.T) {
	src := &fakeSource{}
	right, old := Bearer("new", "4711"), Bearer("old", "4711")
	addr := serve(t, src, Options{Bearers: []string{"", right, old}})
	for header, want := range map[string]int{
		"Bearer " + right:                 http.StatusOK,
		"bearer " + old:                   http.StatusOK,
		"":                                http.StatusUnauthorized,
		"Bearer ":                         http.StatusUnauthorized,
		"Bearer":                          http.StatusUnauthorized,
		"Basic " + right:                  http.StatusUnauthorized,
		"Bearer " + right[1:]:             http.StatusUnauthorized,
		"Bearer " + Bearer("new", "0815"): http.StatusUnauthorized,
	} {
		for _, path := range []string{"/v1/handoff", "/v1/drain", "/v1/undrain"} {
			before := len(src.to) + len(src.drained)
			r, err := http.NewRequest(http.MethodPost, "http://"+addr+path, nil)
			require.NoError(t, err)
			r.Header.Set("Authorization", header)
			require.Equal(t, want, request(t, r), "%s with %q", path, header)
			require.Equal(t, want == http.StatusOK, len(src.to)+len(src.drained) > before)
		}
	}
}

func TestServer_WithoutBearersNothingCanBeChanged(t *testing.T) {
	src := &fakeSource{}
	addr := serve(t, src, Options{Bearers: []string{Bearer("", "4711")}})
	r, err := http.NewRequest(http.MethodPost, "http://"+addr+"/v1/drain", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer ")
	require.Equal(t, http.StatusUnauthorized, request(t, r))
	require.Empty(t, src.drained)
}

// Whatever a parser makes of the header: an empty bearer opens nothing.
func TestAuthorized_EmptyNeverMatchesEmpty(t *testing.T) {
	r := &http.Request{Header: http.Header{"Authorization": {"Bearer "}}}
	require.False(t, authorized(r, []string{""}))
	require.False(t, authorized(r, nil))
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
			r, err := http.NewRequest(http.MethodPost, "http://"+addr+"/v1/handoff", strings.NewReader(tc.body))
			require.NoError(t, err)
			r.Header.Set("Authorization", "Bearer b")
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
