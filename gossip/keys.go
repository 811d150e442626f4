package gossip

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/memberlist"
)

// Derivation labels. Changing one splits every site, like a new protocol.
const (
	infoGossip = "floatrelay gossip v1"
	infoWatch  = "floatrelay watch v1"
)

// keyPair is what one token gives.
type keyPair struct {
	gossip []byte // encrypts packets and streams
	watch  []byte // authenticates the connection to the leader
	print  string // fingerprint, safe to show and to announce
}

// newKeyPair derives the keys of a token at a site. The KMSN is the salt, so
// that two sites with the same token have nothing in common.
func newKeyPair(token, kmsn string) (keyPair, error) {
	g, err := hkdf.Key(sha256.New, []byte(token), []byte(kmsn), infoGossip, 32)
	if err != nil {
		return keyPair{}, fmt.Errorf("derive gossip key: %w", err)
	}
	w, err := hkdf.Key(sha256.New, []byte(token), []byte(kmsn), infoWatch, 32)
	if err != nil {
		return keyPair{}, fmt.Errorf("derive watch key: %w", err)
	}
	sum := sha256.Sum256(append([]byte("floatrelay key id\x00"), g...))
	return keyPair{gossip: g, watch: w, print: hex.EncodeToString(sum[:4])}, nil
}

// siteLabel marks every packet of a site in the clear: packets of another KMSN
// are dropped before anything is decrypted. Sixteen hex digits.
func siteLabel(kmsn string) string {
	sum := sha256.Sum256([]byte("floatrelay site\x00" + kmsn))
	return hex.EncodeToString(sum[:8])
}

// keys holds the new key and, during a rotation, the old one.
//
// memberlist decrypts with any key on its ring but encrypts with the primary
// alone. A member restarted with RELAY_TOKEN and RELAY_TOKEN_OLD reads both; one
// not yet restarted reads only the old. So whoever has both keeps *sending*
// with the old one until every live member announces, in its meta, that it
// reads the new one; then all change over by themselves. A PC that was off
// meanwhile comes back with the old token only: it is heard (the old key is
// still on the rings), its meta says what it reads, and the others go back to
// the old key for as long as it is alive and not restarted. The order of the
// restarts does not matter. RELAY_TOKEN_OLD may be removed once no member, on
// or off, is left without the new one; a PC that comes back after that has the
// wrong token and is reported so.
type keys struct {
	fresh keyPair  // RELAY_TOKEN
	old   *keyPair // RELAY_TOKEN_OLD, or nil
	ring  *memberlist.Keyring

	mu      sync.Mutex
	current *keyPair
}

func newKeys(token, oldToken, kmsn string) (*keys, error) {
	fresh, err := newKeyPair(token, kmsn)
	if err != nil {
		return nil, err
	}
	k := &keys{fresh: fresh, current: &fresh}
	all := [][]byte{fresh.gossip}
	if oldToken != "" && oldToken != token {
		old, err := newKeyPair(oldToken, kmsn)
		if err != nil {
			return nil, err
		}
		k.old, k.current = &old, &old
		all = append(all, old.gossip)
	}
	if k.ring, err = memberlist.NewKeyring(all, k.current.gossip); err != nil {
		return nil, fmt.Errorf("make keyring: %w", err)
	}
	return k, nil
}

// prints are the fingerprints of the keys this member can decrypt, the new one
// first.
func (k *keys) prints() []string {
	if k.old == nil {
		return []string{k.fresh.print}
	}
	return []string{k.fresh.print, k.old.print}
}

// pairs are the keys accepted from others.
func (k *keys) pairs() []keyPair {
	if k.old == nil {
		return []keyPair{k.fresh}
	}
	return []keyPair{k.fresh, *k.old}
}

// primary is the key used for sending.
func (k *keys) primary() keyPair {
	k.mu.Lock()
	defer k.mu.Unlock()
	return *k.current
}

// usesNew reports whether everything is sent with the new token.
func (k *keys) usesNew() bool { return k.primary().print == k.fresh.print }

// choose picks the key to send with, given what each live member reads, and
// reports whether that is a change. With nobody else alive it keeps what it
// has: join finds out by trying.
func (k *keys) choose(members [][]string) bool {
	if k.old == nil || len(members) == 0 {
		return false
	}
	readsNew, readsOld := 0, 0
	for _, prints := range members {
		if slices.Contains(prints, k.fresh.print) {
			readsNew++
		}
		if slices.Contains(prints, k.old.print) {
			readsOld++
		}
	}
	// All read the new one: use it. Otherwise the key that reaches more of
	// them; there is no right answer once a member has neither.
	want := k.old
	if readsNew >= readsOld {
		want = &k.fresh
	}
	return k.use(want)
}

// toggle changes to the other key, if there is one.
func (k *keys) toggle() bool {
	if k.old == nil {
		return false
	}
	if k.usesNew() {
		return k.use(k.old)
	}
	return k.use(&k.fresh)
}

func (k *keys) use(p *keyPair) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current.print == p.print {
		return false
	}
	if err := k.ring.UseKey(p.gossip); err != nil {
		return false // both are on the ring from the start
	}
	k.current = p
	return true
}
