package daemon

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/reason"
)

const (
	// tokensEvery is how often it is looked whose token differs.
	tokensEvery = 2 * time.Second
	// maxOdd bounds how many PCs are named in one line.
	maxOdd = 3
)

// tokens says which PCs of this site have another RELAY_TOKEN. Such a PC is
// not a member to this one, nor this one to it: neither sees the other in its
// table, and only packets that nobody can decrypt tell.
type tokens struct {
	own, old string // fingerprints; old is empty without a rotation
	found    *discovery
	say      tell

	mu   sync.Mutex
	odd  map[string]oddPC // by IP address
	seen map[string]bool  // heard at the last look too: a passing change is not told
}

// oddPC is who has another token.
type oddPC struct {
	addr    string // IP address
	station string // from its file, or ""
	theirs  string // fingerprint, or "" if not known
}

// watchTokens looks for as long as ctx lasts.
func (d *Daemon) watchTokens(ctx context.Context) {
	for sleep(ctx, tokensEvery) {
		d.tokens.look(d.gossip.Strangers(), d.gossip.Members())
	}
}

// look takes in who was heard of late. Each PC is told once in the log.
func (t *tokens) look(strangers []gossip.Stranger, rows []gossip.Row) {
	member := map[string]bool{}
	for _, r := range rows {
		if r.Up() && !r.Self {
			member[r.Addr.Addr().String()] = true
		}
	}
	odd, seen := map[string]oddPC{}, map[string]bool{}
	for _, s := range strangers {
		if s.Kind != gossip.WrongToken || member[s.Addr] {
			continue
		}
		seen[s.Addr] = true
		pc, differs := t.judge(s.Addr)
		switch {
		case !differs:
		case t.seen[s.Addr]:
			odd[s.Addr] = pc
		case pc.theirs == "":
			t.found.hurry()
		}
	}
	t.mu.Lock()
	before := t.odd
	t.odd, t.seen = odd, seen
	t.mu.Unlock()
	for _, addr := range sortedKeys(odd) {
		if before[addr] != odd[addr] {
			t.say(true, t.line(odd[addr]))
		}
	}
	if len(before) > 0 && len(odd) == 0 {
		t.say(false, reason.Reason{Code: reason.TokensAgree})
	}
}

// judge says whose token differs. It does not while a file on the share says
// that the token is the same. That file is read again and again: it is older
// than the difference, or tells first that all is well.
func (t *tokens) judge(addr string) (pc oddPC, differs bool) {
	said, _ := t.found.at(addr)
	t.found.readAgain(addr)
	if t.knows(said.token) || t.knows(said.oldToken) {
		return oddPC{}, false
	}
	return oddPC{addr: addr, station: said.station, theirs: said.token}, true
}

// line is what there is to say of one PC.
func (t *tokens) line(pc oddPC) reason.Reason {
	r := reason.Reason{Code: reason.TokenDiffers, Station: pc.station, Addr: pc.addr, Found: pc.theirs, Want: t.own}
	if pc.station == "" {
		r.Station, r.Addr = pc.addr, ""
	}
	if pc.theirs == "" {
		r.Code = reason.TokenUnknown
	}
	return r
}

func (t *tokens) knows(print string) bool { return print != "" && (print == t.own || print == t.old) }

// reasons are what to show beside this PC: each PC by its shortest name, those of
// one fingerprint together.
func (t *tokens) reasons() []reason.Reason {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.odd) == 1 {
		for _, pc := range t.odd {
			return []reason.Reason{t.line(pc)}
		}
	}
	names := map[string][]string{} // by fingerprint
	for i, addr := range sortedKeys(t.odd) {
		if i < maxOdd {
			pc := t.odd[addr]
			names[pc.theirs] = append(names[pc.theirs], cmp.Or(pc.station, addr))
		}
	}
	var all []string
	for _, print := range sortedKeys(names) {
		all = append(all, strings.Join(names[print], ", ")+" ("+cmp.Or(print, "?")+")")
	}
	if len(all) == 0 {
		return nil
	}
	return []reason.Reason{{Code: reason.TokensDiffer, Detail: strings.Join(all, ", "), Want: t.own, Count: max(0, len(t.odd)-maxOdd)}}
}

// names reports whether a station is among those with another token.
func (t *tokens) names(station string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, pc := range t.odd {
		if pc.station == station {
			return true
		}
	}
	return false
}

// differs reports whether the token of who is at an IP address is another one.
func (t *tokens) differs(ip string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.odd[ip] != oddPC{}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
