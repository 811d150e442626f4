package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/config"
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
	say      func(warn bool, text string)

	mu   sync.Mutex
	odd  map[string]string // what is said of it, by IP address
	seen map[string]bool   // heard at the last look too: a passing change is not told
}

// oldPrint is the fingerprint of RELAY_TOKEN_OLD, or "".
func oldPrint(old config.Secret) string {
	if old == "" {
		return ""
	}
	return old.String()
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
	odd, seen := map[string]string{}, map[string]bool{}
	for _, s := range strangers {
		if s.Kind != gossip.WrongToken || member[s.Addr] {
			continue
		}
		seen[s.Addr] = true
		if text := t.text(s.Addr); text != "" && t.seen[s.Addr] {
			odd[s.Addr] = text
		}
	}
	t.mu.Lock()
	before := t.odd
	t.odd, t.seen = odd, seen
	t.mu.Unlock()
	for _, addr := range sortedKeys(odd) {
		if before[addr] != odd[addr] {
			t.say(true, odd[addr])
		}
	}
	if len(before) > 0 && len(odd) == 0 {
		t.say(false, "no PC with another RELAY_TOKEN is heard any more")
	}
}

// text says whose token differs and how. It is empty while a file on the share
// says that the token is the same: that file is older than the difference, and
// is read again.
func (t *tokens) text(addr string) string {
	who, theirs := addr, ""
	if said, ok := t.found.at(addr); ok {
		if said.station != "" {
			who = said.station + " at " + addr
		}
		theirs = said.token
		if t.knows(said.token) || t.knows(said.oldToken) {
			t.found.readAgain(addr)
			return ""
		}
	}
	if theirs == "" {
		t.found.readAgain(addr)
		return fmt.Sprintf("RELAY_TOKEN differs from that of %s (fingerprint here %s): compare 'floatrelay token fingerprint' on both", who, t.own)
	}
	return fmt.Sprintf("RELAY_TOKEN differs from that of %s (fingerprint there %s, here %s)", who, theirs, t.own)
}

func (t *tokens) knows(print string) bool { return print != "" && (print == t.own || print == t.old) }

// note is what to show beside this PC.
func (t *tokens) note() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, addr := range sortedKeys(t.odd) {
		all = append(all, t.odd[addr])
	}
	if more := len(all) - maxOdd; more > 0 {
		all = append(all[:maxOdd:maxOdd], fmt.Sprintf("and from that of %d more PCs", more))
	}
	return strings.Join(all, "; ")
}

// differs reports whether the token of who is at an IP address is another one.
func (t *tokens) differs(ip string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.odd[ip] != ""
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// joinNotes puts two notes, either of which may be empty, into one.
func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
