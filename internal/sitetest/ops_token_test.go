package sitetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/lease"
)

const opsToken = "another-token-not-for-a-site-either"

// opsSigned demands that the newest record is one that exactly these tokens
// verify.
func opsSigned(s *site, with string, not ...string) {
	s.t.Helper()
	chain := lease.NewChain(lease.NewDir(s.Share))
	l, err := chain.List(s.t.Context())
	require.NoError(s.t, err)
	body, err := chain.Read(s.t.Context(), l.Share, l.Head())
	require.NoError(s.t, err)
	open := func(token string) lease.Kind {
		codec, err := lease.NewCodec(localsite.KMSN, token)
		require.NoError(s.t, err)
		return codec.Open(l.Share, l.Head(), body).Kind
	}
	require.Equal(s.t, lease.Valid, open(with))
	for _, token := range not {
		require.Equal(s.t, lease.Unknown, open(token))
	}
}

// opsLead gives a node the lease, if it has not got it.
func opsLead(s *site, n *localsite.Node) {
	s.t.Helper()
	s.until(2*slack, n.Station+" leads", func() error {
		l, _, err := s.Leader(s.t.Context())
		if err != nil || l == n {
			return err
		}
		if err := l.Handoff(s.t.Context(), n.Station); err != nil {
			return err
		}
		time.Sleep(300 * time.Millisecond)
		return fmt.Errorf("%s led", l.Station)
	})
}

// The token of a running site is changed PC by PC, in any order, under load:
// nobody takes the lease from anybody, the roster stays whole, and a client
// notices the restarts of the leader and no more.
func TestOps_TokenRotation(t *testing.T) {
	s, _, _ := start(t, localsite.Options{Nodes: 5})
	s.roster(4)
	talk := opsTalking(s)
	talk.flows(20)
	from := time.Now()
	order := rand.Perm(len(s.Nodes))
	t.Logf("order of the restarts: %v", order)

	for k, i := range order {
		n := s.Nodes[i]
		require.NoError(t, n.Set(map[string]string{"RELAY_TOKEN": opsToken, "RELAY_TOKEN_OLD": localsite.Token}))
		opsRestart(s, n)
		if k == 0 {
			opsLead(s, n) // who knows both signs so that the others can read it
			s.roster(4)
		}
		if k < len(order)-1 {
			opsSigned(s, localsite.Token, opsToken) // somebody still knows no other
			waiting := s.status(n, "waits for the others", func(st localapi.Status) bool { return st.Rotation != nil && len(st.Rotation.Waiting) == len(order)-1-k })
			require.False(t, waiting.Rotation.UsesNew)
		}
		if k == 2 {
			s.roster(4) // those who know both and those who know one still vouch for each other
		}
	}
	for _, n := range s.Nodes {
		s.status(n, "uses the new token", func(st localapi.Status) bool { return st.Rotation != nil && st.Rotation.UsesNew })
	}
	s.until(slack, "records are signed with the new token", func() error {
		if _, err := s.Head(t.Context()); err == nil { // reads with the old one
			return fmt.Errorf("the newest is still signed with the old one")
		}
		return nil
	})
	opsSigned(s, opsToken, localsite.Token)

	for _, i := range rand.Perm(len(s.Nodes)) {
		n := s.Nodes[i]
		// As a person does, who takes the next PC once the last is back: within
		// RENEW (3 s) the leader has it on the roster, from which it can take over.
		time.Sleep(4 * time.Second)
		require.NoError(t, n.Set(map[string]string{"RELAY_TOKEN": opsToken, "RELAY_TOKEN_OLD": ""}))
		opsRestart(s, n)
		require.Nil(t, s.status(n, "is done", func(localapi.Status) bool { return true }).Rotation)
	}
	talk.flows(20)
	opsReport(t, "token rotation", []time.Duration{talk.longest(from)})
	require.Less(t, talk.longest(from), opsLimit())
	talk.once()
	opsOnlyHandoffs(s)
}

// A PC that was off while the token was changed comes back with the old one
// and is not shut out: the others go back to it until that PC is done too.
func TestOps_TokenRotationWithAPCThatWasOff(t *testing.T) {
	t.Parallel()
	s, leader, _ := start(t, localsite.Options{Nodes: 3, Extra: steady()})
	s.roster(2)
	off := s.others(leader)[0]
	require.NoError(t, off.Stop(s.within(20*time.Second)))
	for _, n := range s.others(off) {
		require.NoError(t, n.Set(map[string]string{"RELAY_TOKEN": opsToken, "RELAY_TOKEN_OLD": localsite.Token}))
		require.NoError(t, n.Stop(s.within(20*time.Second)))
		require.NoError(t, n.Start())
		s.status(n, "is back", func(st localapi.Status) bool { return st.Leader != "" && st.Gossip.Alive == 2 })
	}
	for _, n := range s.others(off) {
		s.status(n, "uses the new token", func(st localapi.Status) bool { return st.Rotation != nil && st.Rotation.UsesNew })
	}
	n, st := s.leader(0, slack)

	require.NoError(t, off.Start())
	s.status(off, "is a client", func(x localapi.Status) bool { return x.Role == "client" && x.Epoch == st.Epoch })
	s.status(n, "waits for it", func(x localapi.Status) bool {
		return x.Rotation != nil && !x.Rotation.UsesNew && len(x.Rotation.Waiting) == 1
	})
	s.roster(2) // and it vouches

	require.NoError(t, off.Set(map[string]string{"RELAY_TOKEN": opsToken, "RELAY_TOKEN_OLD": localsite.Token}))
	require.NoError(t, off.Stop(s.within(20*time.Second)))
	require.NoError(t, off.Start())
	for _, n := range s.Nodes {
		s.status(n, "uses the new token", func(st localapi.Status) bool {
			return st.Rotation != nil && st.Rotation.UsesNew && st.Gossip.Alive == 3
		})
	}
	s.stays(n, st.Epoch, time.Second)
	opsOnlyHandoffs(s)
}
