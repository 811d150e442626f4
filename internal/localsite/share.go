package localsite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/convertfw/floatrelay/lease"
)

// Found moves a chain into a new folder, so that nobody has to wait until a
// chain that might have been there has run out. It returns the share id.
func Found(dir string) (id string, err error) {
	codec, err := lease.NewCodec(KMSN, Token)
	if err != nil {
		return "", err
	}
	return FoundBy(codec, dir)
}

// FoundBy is Found for another site or token: the codec signs the chain's
// first record.
func FoundBy(codec *lease.Codec, dir string) (id string, err error) {
	id = uuid.NewString()
	genesis, err := codec.Seal(lease.Record{
		Share: id, KMSN: codec.KMSN(), Station: "DEMO", Rev: 1, Owner: lease.ID{Node: uuid.NewString(), Run: "000000000000"},
		Boot: "demo", State: lease.Released, Reason: "new-chain", IP: "127.0.0.1", Port: 9530, PID: os.Getpid(),
		TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
	})
	if err != nil {
		return "", err
	}
	return id, lease.NewChain(lease.NewDir(dir)).Found(context.Background(), id, 1, genesis)
}

// ErrNoRecord is returned by Head while the share holds no readable record.
var ErrNoRecord = errors.New("no readable record")

// Head returns the newest record on the share.
func (s *Site) Head(ctx context.Context) (lease.Record, error) {
	codec, err := lease.NewCodec(KMSN, Token)
	if err != nil {
		return lease.Record{}, err
	}
	chain := lease.NewChain(lease.NewDir(s.Share))
	l, err := chain.List(ctx)
	if err != nil {
		return lease.Record{}, fmt.Errorf("find the newest record: %w", err)
	}
	body, err := chain.Read(ctx, l.Share, l.Head())
	if err != nil {
		return lease.Record{}, fmt.Errorf("read the newest record: %w", err)
	}
	e := codec.Open(l.Share, l.Head(), body)
	if e.Kind != lease.Valid {
		return lease.Record{}, fmt.Errorf("read the newest record: %w: %s", ErrNoRecord, e.Cause)
	}
	return e.Record, nil
}

// spread is how long the beats get to tell the members of a record that was
// just found on the share.
const spread = 600 * time.Millisecond

// AwaitRoster waits until the holder's newest record names n members that may
// take over fast, and they know it.
func (s *Site) AwaitRoster(ctx context.Context, n int) (lease.Record, error) {
	for {
		r, err := s.Head(ctx)
		if err == nil && r.State == lease.Held && len(r.Roster) >= n {
			time.Sleep(spread)
			return r, nil
		}
		select {
		case <-ctx.Done():
			return r, fmt.Errorf("await a roster of %d, the newest has %d: %w", n, len(r.Roster), errors.Join(err, ctx.Err()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// CutShare takes the node's way to the share away (Options.OwnLinks).
func (n *Node) CutShare() error {
	if err := os.Remove(n.Share); err != nil {
		return fmt.Errorf("cut the share of %s: %w", n.Station, err)
	}
	return nil
}

// LinkShare makes the node reach dir as its share (Options.OwnLinks), in place
// of whatever it reached before.
func (n *Node) LinkShare(dir string) error {
	tmp := n.Share + ".new"
	if err := os.Symlink(dir, tmp); err != nil {
		return fmt.Errorf("link the share of %s: %w", n.Station, err)
	}
	if err := os.Rename(tmp, n.Share); err != nil {
		return fmt.Errorf("link the share of %s: %w", n.Station, err)
	}
	return nil
}

// StateDir is the node's STATE_DIR.
func (n *Node) StateDir() string { return filepath.Join(n.Dir, "state") }
