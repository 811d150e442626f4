package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/lease"
)

const (
	oldToken = "the-token-so-far"
	newToken = "the-token-from-now-on"
)

func aRecord() lease.Record {
	return lease.Record{
		Share: "9b0f3f0e-0000-4000-8000-000000000001", Station: "POS-01", Rev: 42, Epoch: 7,
		Owner: lease.ID{Node: "9b0f3f0e-0000-4000-8000-000000000002", Run: "0123456789ab"}, Boot: "b", State: lease.Held,
		Reason: "renew", IP: "192.168.1.11", Port: 9530, PID: 4711, TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
	}
}

// readers returns who can verify a record sealed now: a PC that knows only the
// old token, one that knows both, one that knows only the new.
func readers(t *testing.T, s *sealer) (old, both, fresh bool) {
	t.Helper()
	body, err := s.Seal(aRecord())
	require.NoError(t, err)
	can := func(token string, more ...string) bool {
		c, err := lease.NewCodec("4711", token, more...)
		require.NoError(t, err)
		return c.Open("", 0, body).Kind == lease.Valid
	}
	return can(oldToken), can(newToken, oldToken), can(newToken)
}

func TestSealer_FollowsTheSwitch(t *testing.T) {
	usesNew := false
	s, err := newSealer(config.Config{KMSN: "4711", Token: newToken, OldToken: oldToken}, func() bool { return usesNew })
	require.NoError(t, err)
	old, both, fresh := readers(t, s)
	require.Equal(t, []bool{true, true, false}, []bool{old, both, fresh}, "while somebody knows only the old one")
	usesNew = true
	old, both, fresh = readers(t, s)
	require.Equal(t, []bool{false, true, true}, []bool{old, both, fresh}, "once everybody knows the new one")
}

func TestSealer_OpensBothAllTheTime(t *testing.T) {
	for _, usesNew := range []bool{false, true} {
		s, err := newSealer(config.Config{KMSN: "4711", Token: newToken, OldToken: oldToken}, func() bool { return usesNew })
		require.NoError(t, err)
		for _, token := range []string{oldToken, newToken} {
			c, err := lease.NewCodec("4711", token)
			require.NoError(t, err)
			body, err := c.Seal(aRecord())
			require.NoError(t, err)
			require.Equal(t, lease.Valid, s.Open("", 0, body).Kind)
		}
	}
}

func TestSealer_WithoutARotation(t *testing.T) {
	for _, old := range []config.Secret{"", newToken} {
		s, err := newSealer(config.Config{KMSN: "4711", Token: newToken, OldToken: old}, func() bool { return false })
		require.NoError(t, err)
		_, _, fresh := readers(t, s)
		require.True(t, fresh, "there is nothing to wait for")
	}
}

// The guard signs its last will the way its daemon signed last, and recognises
// this run's records under either token.
func TestTestament_SignsAsTheDaemonDid(t *testing.T) {
	for _, signsOld := range []bool{false, true} {
		dir := t.TempDir()
		signs, other := newToken, oldToken
		if signsOld {
			signs, other = other, signs
		}
		codec, err := lease.NewCodec("4711", other)
		require.NoError(t, err)
		r := aRecord()
		genesis := r
		genesis.Rev, genesis.Epoch, genesis.State = 41, 6, lease.Released
		chain := lease.NewChain(lease.NewDir(dir))
		seal := func(r lease.Record) []byte {
			body, err := codec.Seal(r)
			require.NoError(t, err)
			return body
		}
		require.NoError(t, chain.Found(t.Context(), r.Share, 41, seal(genesis)))
		require.NoError(t, chain.Create(t.Context(), r.Share, 42, seal(r)))
		next := r
		next.Rev = 43
		require.NoError(t, chain.Create(t.Context(), r.Share, 43, seal(next))) // begun, not acknowledged

		cfg := config.Config{KMSN: "4711", Token: newToken, OldToken: oldToken, LeaseDir: dir}
		require.NoError(t, CarryOutWill(t.Context(), newTestament(cfg, signsOld, arbiter.SetWill{Record: r, Tip: 43})))
		body, err := chain.Read(t.Context(), r.Share, 44)
		require.NoError(t, err)
		by, err := lease.NewCodec("4711", signs)
		require.NoError(t, err)
		e := by.Open(r.Share, 44, body)
		require.Equal(t, lease.Valid, e.Kind, e.Cause)
		require.Equal(t, lease.Released, e.Record.State)
	}
}
