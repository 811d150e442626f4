package lease

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"
)

// keyInfo separates the record key from every other key made of RELAY_TOKEN.
const keyInfo = "floatrelay lease v1"

// macField stands between the signed bytes and the MAC, macEnd behind it.
const (
	macField = `,"mac":"`
	macEnd   = "\"}\n"
)

var macText = base64.RawURLEncoding

// macTail is the length in bytes of everything behind the signed bytes.
var macTail = len(macField) + macText.EncodedLen(sha256.Size) + len(macEnd)

// Codec turns records into signed bytes and back. It is safe for concurrent
// use once Now is set.
type Codec struct {
	// Now is the wall clock behind LeaseUntil, a field for people: nothing
	// depends on it. NewCodec sets time.Now.
	Now func() time.Time

	kmsn string
	keys [][]byte // the current token's first
}

// NewCodec returns the codec of a site. Records are sealed with token and
// verified with token or any of old (RELAY_TOKEN_OLD while a token is being
// changed; empty ones are ignored). It fails if kmsn or token is empty, or if
// kmsn does not fit a record (MaxKMSN).
func NewCodec(kmsn, token string, old ...string) (*Codec, error) {
	if err := checkName("KMSN", kmsn, MaxKMSN); err != nil {
		return nil, err
	}
	if token == "" {
		return nil, errors.New("lease: RELAY_TOKEN is empty: records could not be signed")
	}
	c := &Codec{Now: time.Now, kmsn: kmsn}
	for i, t := range append([]string{token}, old...) {
		if i > 0 && t == "" {
			continue
		}
		key, err := hkdf.Key(sha256.New, []byte(t), []byte(kmsn), keyInfo, sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("lease: derive record key: %w", err)
		}
		c.keys = append(c.keys, key)
	}
	return c, nil
}

// KMSN returns the site this codec signs for.
func (c *Codec) KMSN() string { return c.kmsn }

// Seal returns the record as one line of ASCII JSON that ends in its MAC, at
// most MaxBody bytes. KMSN is filled in if empty, LeaseUntil stamped from Now
// if empty (now+TTL, or now for a release). A reason longer than MaxReason is
// cut; TTL and Fence are rounded up to whole milliseconds, so that a reader
// never waits for less than the holder counts. Any other value outside the
// format's bounds is an error: what Open would not accept is never written.
func (c *Codec) Seal(r Record) ([]byte, error) {
	if r.KMSN == "" {
		r.KMSN = c.kmsn
	}
	if r.KMSN != c.kmsn {
		return nil, fmt.Errorf("lease: seal record %d: KMSN is %q, ours is %q", r.Rev, r.KMSN, c.kmsn)
	}
	r.Reason = cutEscaped(r.Reason, MaxReason)
	r.LeaseUntil = c.leaseUntil(r)
	r.TTL, r.Fence = wholeMS(r.TTL), wholeMS(r.Fence)
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("lease: seal record %d: %w", r.Rev, err)
	}
	body := c.Sign(appendRecord(make([]byte, 0, MaxBody), r))
	if len(body) > MaxBody {
		return nil, fmt.Errorf("lease: seal record %d: %d bytes, a record has at most %d", r.Rev, len(body), MaxBody)
	}
	return body, nil
}

// Sign closes a record that is written up to its MAC. Every version of the
// format ends like this: mac is the last field, over the bytes before it, under
// the same key. So a record of a newer format can be verified, too.
func (c *Codec) Sign(open []byte) []byte {
	mac := sum(c.keys[0], open)
	return append(append(append(open, macField...), mac...), macEnd...)
}

// leaseUntil returns the record's own LeaseUntil, or the one to stamp. A PC whose
// clock is lost writes records like any other; the nearest time that every
// version can read stands in them.
func (c *Codec) leaseUntil(r Record) string {
	if r.LeaseUntil != "" {
		return r.LeaseUntil
	}
	t := c.Now()
	if r.State == Held {
		t = t.Add(r.TTL)
	}
	switch {
	case t.Year() < untilFirst:
		t = time.Date(untilFirst, 1, 1, 0, 0, 0, 0, time.UTC)
	case t.Year() > untilLast:
		t = time.Date(untilLast, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	return t.Format(untilLayout)
}

// appendRecord appends everything that is signed: the object up to the MAC.
func appendRecord(b []byte, r Record) []byte {
	o := object{b: b}
	o.uint("v", Version)
	o.text("share", r.Share)
	o.text("kmsn", r.KMSN)
	o.text("station", r.Station)
	o.uint("rev", r.Rev)
	o.uint("epoch", r.Epoch)
	o.text("node", r.Owner.Node)
	o.text("run", r.Owner.Run)
	o.text("boot", r.Boot)
	o.text("state", string(r.State))
	o.text("reason", r.Reason)
	o.text("successor", idText(r.Successor))
	o.text("ip", r.IP)
	o.uint("port", uint64(r.Port))
	o.uint("pid", uint64(r.PID))
	o.uint("ttl_ms", uint64(r.TTL/time.Millisecond))
	o.uint("fence_ms", uint64(r.Fence/time.Millisecond))
	o.texts("roster", idTexts(r.Roster))
	o.text("lease_until", r.LeaseUntil)
	return o.b
}

func sum(key, body []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write(body)
	return macText.EncodeToString(h.Sum(nil))
}

// signed splits a body into the signed bytes and the text of the MAC.
func signed(body []byte) (prefix []byte, mac string, ok bool) {
	cut := len(body) - macTail
	if cut < 0 {
		return nil, "", false
	}
	tail := string(body[cut:])
	if tail[:len(macField)] != macField || tail[len(tail)-len(macEnd):] != macEnd {
		return nil, "", false
	}
	return body[:cut], tail[len(macField) : len(tail)-len(macEnd)], true
}

// verify reports whether one of our tokens signed the body. The MAC is compared
// as text, so that no second spelling of a record exists.
func (c *Codec) verify(body []byte) bool {
	prefix, mac, ok := signed(body)
	if !ok {
		return false
	}
	for _, key := range c.keys {
		if hmac.Equal([]byte(mac), []byte(sum(key, prefix))) {
			return true
		}
	}
	return false
}

func wholeMS(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
