package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/lease"
)

// heir is a share with one held record, and the testament of its holder.
type heir struct {
	t     *testing.T
	cfg   config.Config
	codec *lease.Codec
	chain *lease.Chain
	last  lease.Record
}

func newHeir(t *testing.T) *heir {
	h := &heir{t: t, cfg: config.Config{KMSN: "4711", Token: "token", OldToken: "old token", LeaseDir: t.TempDir()}}
	var err error
	h.codec, err = lease.NewCodec(h.cfg.KMSN, string(h.cfg.Token), string(h.cfg.OldToken))
	require.NoError(t, err)
	h.chain = lease.NewChain(lease.NewDir(h.cfg.LeaseDir))
	h.last = lease.Record{
		Share: uuid.NewString(), KMSN: h.cfg.KMSN, Station: "POS-01", Rev: 41, Epoch: 7,
		Owner: lease.ID{Node: uuid.NewString(), Run: "0123456789ab"}, Boot: "b", State: lease.Held, Reason: "renew",
		IP: "192.168.1.10", Port: 9530, PID: 1, TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
	}
	genesis := h.last
	genesis.Rev, genesis.State = 41, lease.Held
	body, err := h.codec.Seal(genesis)
	require.NoError(t, err)
	require.NoError(t, h.chain.Found(t.Context(), h.last.Share, 41, body))
	return h
}

func (h *heir) testament(signsOld bool, tip uint64) []byte {
	return newTestament(h.cfg, signsOld, arbiter.SetWill{Record: h.last, Tip: tip})
}

func (h *heir) create(rev uint64, change func(*lease.Record)) {
	h.t.Helper()
	r := h.last
	r.Rev = rev
	change(&r)
	body, err := h.codec.Seal(r)
	require.NoError(h.t, err)
	require.NoError(h.t, h.chain.Create(h.t.Context(), r.Share, rev, body))
}

func (h *heir) record(rev uint64) lease.Record {
	h.t.Helper()
	body, err := h.chain.Read(h.t.Context(), h.last.Share, rev)
	require.NoError(h.t, err)
	e := h.codec.Open(h.last.Share, rev, body)
	require.Equal(h.t, lease.Valid, e.Kind, e.Cause)
	return e.Record
}

func TestCarryOutWill(t *testing.T) {
	t.Run("releases the record after the last", func(t *testing.T) {
		h := newHeir(t)
		require.NoError(t, CarryOutWill(t.Context(), h.testament(false, 41)))
		r := h.record(42)
		require.Equal(t, lease.Released, r.State)
		require.Equal(t, lease.WillReason, r.Reason)
		require.Equal(t, h.last.Owner, r.Owner)
		require.Equal(t, h.last.Epoch, r.Epoch)
	})
	t.Run("goes on over a record this run began", func(t *testing.T) {
		h := newHeir(t)
		h.create(42, func(*lease.Record) {})
		require.NoError(t, CarryOutWill(t.Context(), h.testament(false, 42)))
		require.Equal(t, lease.Released, h.record(43).State)
	})
	t.Run("but not over one it may not know of", func(t *testing.T) {
		h := newHeir(t)
		h.create(42, func(*lease.Record) {})
		require.ErrorIs(t, CarryOutWill(t.Context(), h.testament(false, 41)), lease.ErrNotOurs)
	})
	t.Run("leaves somebody else's lease alone", func(t *testing.T) {
		h := newHeir(t)
		h.create(42, func(r *lease.Record) { r.Owner.Node = uuid.NewString() })
		require.ErrorIs(t, CarryOutWill(t.Context(), h.testament(false, 42)), lease.ErrNotOurs)
		l, err := h.chain.List(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 42, l.Head())
	})
	t.Run("signs with the token everybody knows while it is being changed", func(t *testing.T) {
		h := newHeir(t)
		require.NoError(t, CarryOutWill(t.Context(), h.testament(true, 41)))
		others, err := lease.NewCodec(h.cfg.KMSN, string(h.cfg.OldToken))
		require.NoError(t, err)
		body, err := h.chain.Read(t.Context(), h.last.Share, 42)
		require.NoError(t, err)
		require.Equal(t, lease.Valid, others.Open(h.last.Share, 42, body).Kind)
	})
	t.Run("a testament that cannot be read", func(t *testing.T) {
		require.ErrorContains(t, CarryOutWill(t.Context(), []byte("{")), "read the last will")
		require.Error(t, CarryOutWill(t.Context(), []byte(`{"dir":"/nowhere"}`)))
	})
	t.Run("a share that is gone", func(t *testing.T) {
		h := newHeir(t)
		h.cfg.LeaseDir += "/gone"
		ctx, cancel := context.WithTimeout(t.Context(), slack)
		defer cancel()
		require.ErrorIs(t, CarryOutWill(ctx, h.testament(false, 41)), lease.ErrUnavailable)
	})
}
