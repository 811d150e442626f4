package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/lease"
)

// How often this member's file on the share is looked at and renewed. Only
// joining depends on it.
const (
	membersEvery = 10 * time.Second
	memberFresh  = 10 * time.Minute
)

// discovery knows where members might be found: GOSSIP_PEERS, the addresses of
// the last run, and the members' files on the share.
type discovery struct {
	fixed []string
	dir   string // STATE_DIR

	mu    sync.Mutex
	files []string
}

// candidates never blocks: what comes from the share is a copy.
func (p *discovery) candidates() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append(append([]string(nil), p.fixed...), p.files...)
}

func (p *discovery) rememberedPath() string { return filepath.Join(p.dir, "members.json") }

// remembered are the members of the last run; a damaged file is no reason not
// to start.
func (p *discovery) remembered() []gossip.Row {
	b, err := os.ReadFile(p.rememberedPath())
	if err != nil {
		return nil
	}
	rows, _ := gossip.DecodeRows(b)
	return rows
}

func (p *discovery) remember(rows []gossip.Row) error {
	b, err := gossip.EncodeRows(rows)
	if err != nil {
		return err
	}
	return writeFile(p.rememberedPath(), b)
}

// keepFiles writes this member's file and reads the others', for as long as
// ctx lasts. It runs beside everything else because the share may hang.
func (d *Daemon) keepFiles(ctx context.Context) {
	var wrote time.Time
	var wroteTo, wroteAddr string
	floor := false
	for {
		floor = floor || d.readFloor(ctx)
		share := d.driver.Status().Share
		if share != "" {
			addr := d.address()
			if wroteTo != share || wroteAddr != addr || time.Since(wrote) > memberFresh {
				if err := d.chain.WriteMember(ctx, share, d.memberFile(addr)); err != nil {
					d.log.Debug("cannot write this member's file: " + err.Error())
				} else {
					wrote, wroteTo, wroteAddr = time.Now(), share, addr
				}
			}
			d.readFiles(ctx, share)
		}
		if !sleep(ctx, d.filesPause(share)) {
			return
		}
	}
}

// readFloor tells the arbiter once which rev and epoch the view on the share
// speaks of, within plausible bounds: they must not fall even if the chain, or
// this node's own memory, is lost.
func (d *Daemon) readFloor(ctx context.Context) bool {
	v, _, err := d.chain.ReadView(ctx)
	if err != nil {
		return errors.Is(err, lease.ErrNotExist)
	}
	s := d.state.get()
	rev, epoch := v.Floor(d.cfg.KMSN, s.Rev, s.Epoch)
	d.post(arbiter.Known{Rev: rev, Epoch: epoch})
	return true
}

// filesPause is short until the share has been found, so that a fresh member
// is on the share, and finds the others, soon.
func (d *Daemon) filesPause(share string) time.Duration {
	if share == "" {
		return 100 * time.Millisecond
	}
	return membersEvery
}

func (d *Daemon) memberFile(addr string) lease.Member {
	return lease.Member{
		Node: d.self.Node, Run: d.self.Run, Station: d.cfg.Station, Addrs: []string{addr},
		Port: d.gossip.Port(), KMSN: d.cfg.KMSN, Version: d.opt.Version,
		Written: d.opt.wall().Format("20060102150405"),
	}
}

func (d *Daemon) readFiles(ctx context.Context, share string) {
	members, _, err := d.chain.ListMembers(ctx, share)
	if err != nil {
		return
	}
	var addrs []string
	for _, m := range members {
		if m.Node == d.self.Node || m.KMSN != d.cfg.KMSN {
			continue
		}
		for _, a := range m.Addrs {
			addrs = append(addrs, net.JoinHostPort(a, strconv.Itoa(m.Port)))
		}
	}
	d.found.mu.Lock()
	fresh := len(addrs) > len(d.found.files)
	d.found.files = addrs
	d.found.mu.Unlock()
	if fresh {
		_, _ = d.gossip.Join(addrs) // whoever is off does not answer; periodic rejoin goes on
	}
}

// sleep waits and reports whether ctx still lasts.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
