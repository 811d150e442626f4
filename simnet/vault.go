package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// kmsn is the site every world is about.
const kmsn = "4711"

// vault seals and opens records with the real codec. A body is opened once per
// world however many nodes read it: opening is a pure function of the bytes,
// and verifying a MAC is the dearest thing a world does.
type vault struct {
	codec  *lease.Codec
	opened map[string]lease.Entry
	checks int           // how many MACs were computed to verify a record
	sealed int           // and how many to make one
	wall   time.Duration // how wrong the wall clock of who seals is
}

// tokens are the site's secrets: the second one is what members have after
// somebody changed it without naming the old one as RELAY_TOKEN_OLD.
var tokens = [...]string{"a token that everybody at the site has", "a token that some were given"}

// newVault returns a vault that seals with the first token and opens what any of
// them sealed; now is world time.
func newVault(now func() time.Duration, token string, more ...string) *vault {
	c, err := lease.NewCodec(kmsn, token, more...)
	if err != nil {
		panic(err) // constants
	}
	v := &vault{codec: c, opened: map[string]lease.Entry{}}
	c.Now = func() time.Time { return time.Unix(1_800_000_000, 0).UTC().Add(now() + v.wall) }
	return v
}

// Seal implements arbiter.Sealer.
func (v *vault) Seal(r lease.Record) ([]byte, error) {
	v.sealed++
	return v.codec.Seal(r)
}

// openAny opens a record that carries its own rev, as beats do.
func (v *vault) openAny(body []byte) lease.Entry {
	e, ok := v.opened[string(body)]
	if !ok {
		v.checks++
		e = v.codec.Open("", 0, body)
		v.opened[string(body)] = e
	}
	return e
}

// open opens what was found as a rev of a share.
func (v *vault) open(share string, rev uint64, body []byte) lease.Entry {
	e := v.openAny(body)
	if e.Kind == lease.Valid && (e.Record.Share != share || e.Record.Rev != rev) {
		v.checks++
		return v.codec.Open(share, rev, body)
	}
	e.Rev = rev
	return e
}
