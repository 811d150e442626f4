package localapi

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"strings"
)

// ServerName starts the Server header, by which a client tells us from a
// stranger on the same port.
const ServerName = "floatrelay"

// discardLog silences net/http: its complaints concern the peer, and text of a
// stranger must not reach our log.
func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

// guarded checks what every request must fulfil. No browser page is a client
// of ours, so anything with an Origin is refused, whatever it asks.
func (s *Server) guarded(port int, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", strings.TrimSuffix(ServerName+"/"+s.opt.Version, "/"))
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case !hostAllowed(r.Host, port):
			fail(w, http.StatusMisdirectedRequest, "the Host header must be a loopback address with this port")
		case r.Header.Get("Origin") != "":
			fail(w, http.StatusForbidden, "requests made by a web page are refused")
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			next.ServeHTTP(w, r)
		}
	})
}

// reading bounds a request in time and number. A call of the Source that never
// returns keeps its place among maxRequests, so that it cannot pile up.
func (s *Server) reading(h http.HandlerFunc) http.Handler {
	limited := http.TimeoutHandler(counted(s.busy, h), s.patience, errorBody("the daemon did not answer in time"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		limited.ServeHTTP(w, r)
	})
}

// changing is reading for those who know the token.
func (s *Server) changing(h http.HandlerFunc) http.Handler {
	limited := http.TimeoutHandler(counted(s.changes, h), changeTime, errorBody("the daemon did not answer in time"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ok, err := s.authorized(r)
		switch {
		case err != nil:
			fail(w, http.StatusBadRequest, "cannot read the body: "+err.Error())
			return
		case !ok:
			w.Header().Set("WWW-Authenticate", authScheme)
			fail(w, http.StatusUnauthorized, "this needs a proof of this site's RELAY_TOKEN and KMSN, as 'floatrelay' of this version gives it: the daemon still runs with the token it was started with; restart it")
			return
		}
		keep(r.Context())
		w.Header().Set("Content-Type", "application/json")
		limited.ServeHTTP(w, r)
	})
}

// counted bounds how many requests are answered at once.
func counted(places chan struct{}, h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			h(w, r)
		default:
			fail(w, http.StatusServiceUnavailable, "too many requests at once")
		}
	})
}

type errorJSON struct {
	Error string `json:"error"`
}

func errorBody(text string) string {
	b, _ := json.Marshal(errorJSON{text}) // a struct of one string cannot fail
	return string(b)
}

func fail(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, errorBody(text)+"\n")
}

func answer(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		fail(w, http.StatusInternalServerError, "cannot encode the answer: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n'))
}

func notFound(w http.ResponseWriter, r *http.Request) {
	fail(w, http.StatusNotFound, "no such request: "+r.Method+" "+r.URL.Path)
}
