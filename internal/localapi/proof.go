package localapi

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Whoever asks for a change proves that it knows the site's token, and has the
// daemon prove that first: API_ADDR may be held by any program of any user of
// this PC. Nothing that crosses is of use to anybody else.
//
//	client → GET /v1/challenge?c=C
//	daemon → S, and for each of its keys HMAC(key, "daemon", host, C, S)
//	client → the request, with Authorization: Floatrelay C S HMAC(key,
//	         "client", host, method, path, C, S, SHA-256 of the body)
//
// C and S are random; host is the address that the client connected to, so that
// nothing can be passed on to a daemon at another address. S is good for one
// request within challengeTime.
const (
	challengePath = "/v1/challenge"
	authScheme    = "Floatrelay"
	challengeTime = 10 * time.Second
	nonceBytes    = 16
	// maxUsed bounds the memory of used challenges; only who knows the token
	// gets one into it.
	maxUsed = 1024
)

// challengeJSON is the daemon's answer.
type challengeJSON struct {
	S      string   `json:"s"`
	Proofs []string `json:"proofs"`
}

// mac authenticates parts under a key, which is a bearer's text.
func mac(key string, parts ...string) string {
	h := hmac.New(sha256.New, []byte(key))
	for _, p := range parts {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func clientMAC(key, host, method, path, c, s string, body []byte) string {
	sum := sha256.Sum256(body)
	return mac(key, "client", host, method, path, c, s, hex.EncodeToString(sum[:]))
}

func daemonMAC(key, host, c, s string) string { return mac(key, "daemon", host, c, s) }

func newNonce() string {
	var b [nonceBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// challenges makes S and remembers which were used. An S carries its time and
// is signed with a secret of this run, so that those nobody comes back with cost
// no memory.
type challenges struct {
	secret string
	now    func() time.Time
	begun  time.Time

	mu   sync.Mutex
	used map[string]time.Time
}

func newChallenges() *challenges {
	return &challenges{secret: newNonce() + newNonce(), now: time.Now, begun: time.Now(), used: map[string]time.Time{}}
}

// give returns an S for this C.
func (x *challenges) give(c string) string {
	at := binary.BigEndian.AppendUint64(nil, uint64(x.now().Sub(x.begun)))
	head := hex.EncodeToString(at) + newNonce()
	return head + mac(x.secret, head, c)
}

// fresh reports whether S was given for C within challengeTime.
func (x *challenges) fresh(c, s string) bool {
	const head = 2*8 + 2*nonceBytes
	if len(s) <= head || subtle.ConstantTimeCompare([]byte(s[head:]), []byte(mac(x.secret, s[:head], c))) != 1 {
		return false
	}
	at, err := hex.DecodeString(s[:16])
	return err == nil && x.now().Sub(x.begun)-time.Duration(binary.BigEndian.Uint64(at)) <= challengeTime
}

// use reports whether S is used for the first time.
func (x *challenges) use(s string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.now()
	for k, at := range x.used {
		if now.Sub(at) > 2*challengeTime {
			delete(x.used, k)
		}
	}
	if _, again := x.used[s]; again || len(x.used) >= maxUsed {
		return false
	}
	x.used[s] = now
	return true
}

// challenge answers GET /v1/challenge.
func (s *Server) challenge(w http.ResponseWriter, r *http.Request) {
	c := r.URL.Query().Get("c")
	if len(c) != 2*nonceBytes {
		fail(w, http.StatusBadRequest, "c must be 32 hex digits")
		return
	}
	out := challengeJSON{S: s.challenges.give(c), Proofs: []string{}}
	for _, key := range s.opt.Bearers {
		if key != "" {
			out.Proofs = append(out.Proofs, daemonMAC(key, r.Host, c, out.S))
		}
	}
	answer(w, out)
}

// authorized reports whether a request carries a fresh proof under one of the
// accepted keys. It reads the body, which is at most maxBody, and puts it back;
// an error is one of reading it.
func (s *Server) authorized(r *http.Request) (bool, error) {
	f := strings.Fields(r.Header.Get("Authorization"))
	if len(f) != 4 || f[0] != authScheme {
		return false, nil
	}
	c, sn, proof := f[1], f[2], f[3]
	if !s.challenges.fresh(c, sn) {
		return false, nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	ok := 0
	for _, key := range s.opt.Bearers {
		if key != "" {
			want := clientMAC(key, r.Host, r.Method, r.URL.Path, c, sn, body)
			ok |= subtle.ConstantTimeCompare([]byte(proof), []byte(want))
		}
	}
	return ok == 1 && s.challenges.use(sn), nil
}

// errUnproven is what the client says of whoever did not prove itself.
var errUnproven = errors.New("what answers there did not prove that it is the daemon of this site, so it was asked for nothing: " +
	"if it is a floatrelay, it has another RELAY_TOKEN or KMSN, the one that it was started with, or is an older version; restart it; " +
	"if it is another program, end it or change API_ADDR")
