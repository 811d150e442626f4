package gossip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/memberlist"

	"github.com/convertfw/floatrelay/internal/reason"
)

// MaxMeta is how many bytes of metadata memberlist carries; it panics above.
const MaxMeta = memberlist.MetaMaxSize

// metaVersion is the meaning of the fields below; fields may be added without
// changing it.
const metaVersion = 1

// Meta is what a member says of itself to all others. All of it is a hint.
type Meta struct {
	V        int    `json:"v"`
	Station  string `json:"s"`
	Role     string `json:"r,omitempty"`  // leader, candidate, client, ineligible
	Share    string `json:"h,omitempty"`  // share id it follows
	Rev      uint64 `json:"n,omitempty"`  // newest rev it knows
	Epoch    uint64 `json:"e,omitempty"`  // epoch of that record
	Eligible bool   `json:"el,omitempty"` // may lead
	Priority int    `json:"p,omitempty"`  // RELAY_PRIORITY
	Preempt  bool   `json:"pe,omitempty"` // RELAY_PREEMPT
	Relay    string `json:"a,omitempty"`  // "ip:port" of its relay, while leading
	// Why says with codes why it is not eligible, or what is odd. Note says it in
	// words, for members of the first release, as far as there is room.
	Why     []reason.Reason `json:"w,omitempty"`
	Note    string          `json:"no,omitempty"`
	Version string          `json:"ve,omitempty"` // program version
	// Keys are the fingerprints of the keys it can decrypt; set by Gossip.
	Keys []string `json:"k,omitempty"`
	// Brief says that it reads brief beats and vouches; set by Gossip.
	Brief bool `json:"b,omitempty"`
}

// Longest texts, in bytes, of the fields that are never cut to make room.
const (
	maxMetaWord  = 16 // Role
	maxMetaShare = 40 // a UUID has 36
	maxMetaAddr  = 48
	maxMetaKeys  = 3
)

// Encode returns at most MaxMeta bytes of JSON. What does not fit is cut in
// this order, always on a character boundary: the note, the reasons, the version,
// the station. The rest fits by itself.
func (m Meta) Encode() []byte {
	m.V = metaVersion
	m.Role = clean(m.Role, maxMetaWord)
	m.Share = clean(m.Share, maxMetaShare)
	m.Relay = clean(m.Relay, maxMetaAddr)
	m.Keys = append([]string(nil), m.Keys[:min(len(m.Keys), maxMetaKeys)]...)
	for i := range m.Keys {
		m.Keys[i] = clean(m.Keys[i], maxMetaWord)
	}
	for _, f := range []*string{&m.Note, &m.Version, &m.Station} {
		*f = clean(*f, MaxMeta)
	}
	b := m.shorten(m.marshal(), &m.Note)
	b = m.dropReasons(b)
	return m.shorten(m.shorten(b, &m.Version), &m.Station)
}

// shorten cuts a text until the metadata fits or the text is empty.
func (m *Meta) shorten(b []byte, text *string) []byte {
	for len(b) > MaxMeta && *text != "" {
		*text = clip(*text, max(0, len(*text)-excess(len(b))))
		b = m.marshal()
	}
	return b
}

// dropReasons keeps as many reasons as fit: all with their details, else all
// without, else the first ones. The codes matter most.
func (m *Meta) dropReasons(b []byte) []byte {
	if len(b) <= MaxMeta {
		return b
	}
	m.Why = slices.Clone(m.Why)
	for i := len(m.Why) - 1; i >= 0 && len(b) > MaxMeta; i-- {
		b = m.shorten(b, &m.Why[i].Detail)
	}
	for len(b) > MaxMeta && len(m.Why) > 0 {
		m.Why = m.Why[:len(m.Why)-1]
		b = m.marshal()
	}
	return b
}

// Leads reports whether the member says that it leads.
func (m Meta) Leads() bool { return m.Role == LeaderRole }

// LeaderRole is the Role of a member that leads.
const LeaderRole = "leader"

// Reasons are why the member is not eligible, or what is odd. A member of the
// first release has its note only.
func (m Meta) Reasons() []reason.Reason {
	if len(m.Why) == 0 && m.Note != "" {
		return []reason.Reason{reason.Text(m.Note)}
	}
	return m.Why
}

// excess is how many bytes to cut at once: an escaped character takes up to six
// bytes of JSON, so cutting less than the overflow may be enough.
func excess(n int) int { return max(1, (n-MaxMeta)/6) }

func (m Meta) marshal() []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		// Only strings, numbers and bools: cannot happen, must not panic.
		return []byte(`{"v":1}`)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// DecodeMeta reads a member's metadata. Unknown fields and later versions are
// accepted; they can only add.
func DecodeMeta(b []byte) (Meta, error) {
	var m Meta
	if err := json.Unmarshal(b, &m); err != nil {
		return Meta{}, fmt.Errorf("decode member metadata: %w", err)
	}
	return m, nil
}

// clean drops broken UTF-8 and control characters, which JSON would blow up to
// six bytes each, and cuts to limit bytes.
func clean(s string, limit int) string {
	if len(s) > 4*limit {
		s = s[:4*limit]
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	return clip(s, limit)
}

// clip cuts s to at most n bytes without splitting a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// urgent reports whether the change from a to b is one the others should learn
// at once. A new rev of anybody is not, nor a new epoch of somebody who does not
// lead: the roster learns both from beats and everybody from the share, and N
// members announcing each renewal would cost N² messages.
func urgent(a, b Meta) bool {
	a.Rev = b.Rev
	if !b.Leads() {
		a.Epoch = b.Epoch
	}
	return !bytes.Equal(a.marshal(), b.marshal())
}
