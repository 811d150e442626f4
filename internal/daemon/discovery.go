package daemon

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/lease"
)

// How often the members' files on the share are looked at, and this member's is
// renewed. Only joining depends on it, so a member that is alone looks sooner,
// and a site with many members spares its share: the pause grows by
// membersEvery for each twenty of them.
const (
	membersEvery = 10 * time.Second
	membersAlone = time.Second // doubling up to membersEvery
	memberFresh  = 10 * time.Minute
	// filesRound is how many files one look reads. Any one of them leads to
	// everybody; reading all, every member of 200 would ask for 200 files.
	filesRound = 16
)

// discovery knows where members might be found: GOSSIP_PEERS, the addresses of
// the last run, and the members' files on the share.
type discovery struct {
	fixed []string
	dir   string // STATE_DIR

	mu     sync.Mutex
	places map[string]place // by node

	wake chan struct{} // makes keepFiles look at once
}

// place is where a member was last known to be.
type place struct {
	addrs []string  // "host:port"
	again time.Time // when its file is worth reading again
	said  whose     // what its file says of it
}

// whose is what a member's file says of who is at its addresses.
type whose struct {
	station         string
	written         string // local time YYYYMMDDHHMMSS
	token, oldToken string // fingerprints, or ""
}

// candidates never blocks: what comes from the share is a copy.
func (p *discovery) candidates() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := append([]string(nil), p.fixed...)
	for _, at := range p.places {
		out = append(out, at.addrs...)
	}
	return out
}

// choose returns whose files to read of those that are there: at most
// filesRound, at random, of members that gossip does not show and whose file was
// not read lately. What gossip shows is the newest there is, and is noted.
func (p *discovery) choose(nodes []string, rows []gossip.Row, now time.Time) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	self := ""
	for _, r := range rows {
		switch {
		case r.Self:
			self = r.ID.Node
		case r.Up() && r.Addr.IsValid():
			p.note(r.ID.Node, []string{r.Addr.String()}, now)
		}
	}
	var out []string
	for _, node := range nodes {
		if node != self && !now.Before(p.places[node].again) {
			out = append(out, node)
		}
	}
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(len(out), filesRound)]
}

// note remembers where a member is; its file is left alone for a while, a
// different one for each, so that not all members read it at once. The lock is
// held.
func (p *discovery) note(node string, addrs []string, now time.Time) {
	if p.places == nil {
		p.places = map[string]place{}
	}
	p.places[node] = place{addrs: addrs, again: now.Add(memberFresh + rand.N(memberFresh)), said: p.places[node].said}
}

// at is what the files say of who is at an address, this member's own apart.
func (p *discovery) at(ip string) (whose, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	node := p.nodeAt(ip)
	return p.places[node].said, node != ""
}

// readAgain makes the files of whoever is, or was, at an address worth reading.
func (p *discovery) readAgain(ip string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n, at := range p.places {
		if at.names(ip) {
			at.again = time.Time{}
			p.places[n] = at
		}
	}
}

// hurry has the files looked at now.
func (p *discovery) hurry() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// nodeAt is the node whose file names an address, the one written last if there
// are several; "" if none does. The lock is held.
func (p *discovery) nodeAt(ip string) (node string) {
	for n, at := range p.places {
		if !at.names(ip) {
			continue
		}
		if last := p.places[node].said.written; node == "" || at.said.written > last || at.said.written == last && n < node {
			node = n
		}
	}
	return node
}

func (at place) names(ip string) bool {
	return slices.ContainsFunc(at.addrs, func(a string) bool {
		host, _, err := net.SplitHostPort(a)
		return err == nil && host == ip
	})
}

// took takes in what was read of these nodes and returns the addresses. A file
// that could not be understood is not worth another look soon either.
func (p *discovery) took(nodes []string, members []lease.Member, kmsn string, now time.Time) (addrs []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, node := range nodes {
		p.note(node, p.places[node].addrs, now)
	}
	for _, m := range members {
		if m.KMSN != kmsn {
			continue
		}
		var at []string
		for _, a := range m.Addrs {
			at = append(at, net.JoinHostPort(a, strconv.Itoa(m.Port)))
		}
		p.note(m.Node, at, now)
		noted := p.places[m.Node]
		noted.said = whose{station: m.Station, written: m.Written, token: m.Token, oldToken: m.OldToken}
		p.places[m.Node] = noted
		addrs = append(addrs, at...)
	}
	return addrs
}

func (p *discovery) rememberedPath() string { return filepath.Join(p.dir, "members.json") }

// remembered are the members of the last run; a file that is damaged, or in a
// form of a newer version, is no reason not to start. It is put aside, at the path
// that is returned then, because this run writes its own.
func (p *discovery) remembered() (rows []gossip.Row, aside string) {
	b, err := os.ReadFile(p.rememberedPath())
	if err != nil {
		return nil, ""
	}
	if rows, err = gossip.DecodeRows(b); err != nil {
		aside = p.rememberedPath() + ".damaged"
		_ = os.Rename(p.rememberedPath(), aside)
	}
	return rows, aside
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
	floor, alone := false, membersAlone
	odd := oddFiles{say: func(text string) { d.report(true, "ignored on the share: "+text) }}
	for {
		if !floor {
			var err error
			floor, err = d.readFloor(ctx)
			odd.note(err)
		}
		share := d.driver.Status().Share
		if share != "" {
			addr := d.address()
			if wroteTo != share || wroteAddr != addr || time.Since(wrote) > memberFresh {
				if err := d.chain.WriteMember(ctx, share, d.memberFile(addr)); err != nil {
					d.log.Debug("cannot write this member's file: " + err.Error())
					odd.note(err)
				} else {
					wrote, wroteTo, wroteAddr = time.Now(), share, addr
				}
			}
			d.readFiles(ctx, share, &odd)
		}
		pause := filesPause(share, len(d.gossip.IDs()), alone)
		if share != "" {
			alone = min(2*alone, membersEvery)
		}
		if !sleepOr(ctx, pause, d.found.wake) {
			return
		}
	}
}

// readFloor tells the arbiter once which rev and epoch the view on the share
// speaks of, within plausible bounds: they must not fall even if the chain, or
// this node's own memory, is lost.
func (d *Daemon) readFloor(ctx context.Context) (done bool, err error) {
	v, _, err := d.chain.ReadView(ctx)
	if err != nil {
		return errors.Is(err, lease.ErrNotExist), err
	}
	s := d.state.get()
	rev, epoch := v.Floor(d.cfg.KMSN, s.Rev, s.Epoch)
	d.post(arbiter.Known{Rev: rev, Epoch: epoch})
	return true, nil
}

// filesPause is short until the share has been found, so that a fresh member
// is on the share, and finds the others, soon.
func filesPause(share string, others int, alone time.Duration) time.Duration {
	switch {
	case share == "":
		return 100 * time.Millisecond
	case others == 0:
		return alone
	}
	return membersEvery * time.Duration(1+others/20)
}

func (d *Daemon) memberFile(addr string) lease.Member {
	return lease.Member{
		Node: d.self.Node, Run: d.self.Run, Station: d.cfg.Station, Addrs: []string{addr},
		Port: d.gossip.Port(), KMSN: d.cfg.KMSN, Version: d.opt.Version,
		Written: d.opt.wall().Format("20060102150405"), Token: d.cfg.TokenPrint(), OldToken: d.cfg.OldTokenPrint(),
	}
}

// readFiles looks for members that gossip does not show. Only a member that is
// alone joins them at once: each of these addresses tells of everybody, and
// gossip tries them all sooner or later.
func (d *Daemon) readFiles(ctx context.Context, share string, odd *oddFiles) {
	var chosen []string
	members, remarks, err := d.chain.PickMembers(ctx, share, func(nodes []string) []string {
		chosen = d.found.choose(nodes, d.gossip.Members(), time.Now())
		return chosen
	})
	for _, err := range append(remarks, err) {
		odd.note(err)
	}
	if err != nil {
		return
	}
	addrs := d.found.took(chosen, members, d.cfg.KMSN, time.Now())
	if len(addrs) > 0 && len(d.gossip.IDs()) == 0 {
		_, _ = d.gossip.Join(addrs) // whoever is off does not answer; periodic rejoin goes on
	}
}

// sleep waits and reports whether ctx still lasts.
func sleep(ctx context.Context, d time.Duration) bool { return sleepOr(ctx, d, nil) }

// sleepOr is sleep that wake ends early.
func sleepOr(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
	case <-wake:
	}
	return true
}
