package gossip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"go.uber.org/zap"
)

const (
	// joinRound is how many addresses one round tries: enough that a round
	// finds a way back after a partition, few enough that a site with many PCs
	// switched off costs nothing.
	joinRound = 16
	// joinAtOnce is how many of them at a time.
	joinAtOnce = 8
	// aloneMax is the longest pause while nobody else is alive.
	aloneMax = 5 * time.Second
	// foreignTries is how often an address may turn out to be of another site
	// before it is dropped from the table.
	foreignTries = 3
	// settleRounds is how many exchanges with members follow a start or an end
	// of loneliness, settleEvery apart per twenty
	// members. When a whole site starts at once, some news is lost on the way
	// (6 of 100 simulated starts of seven members), and memberlist's own next
	// exchange may be 30 s away.
	settleRounds = 4 // the first is the join itself
	settleEvery  = 1500 * time.Millisecond
	// movedRounds and movedEvery are the same after a change of address: until
	// a member has given the old one up (about 2 s) and Tuning.Reclaim has
	// passed, it takes us for an impostor, and does not tell us.
	movedRounds = 12
	movedEvery  = 2 * time.Second
	// sweepAfter of these rounds, members not seen at the new address are
	// taken for dead: they died during the change and nobody will tell.
	sweepAfter = 3
	// resolveTimeout bounds one name lookup.
	resolveTimeout = 2 * time.Second
)

// Join contacts these addresses ("host" or "host:port") now and returns how
// many answered as members of this site, and an error if none did.
func (g *Gossip) Join(addrs []string) (int, error) {
	if g.list() == nil {
		return 0, ErrClosed
	}
	known, names := g.known(addrs)
	n, err := g.joinAll(known)
	more, err2 := g.joinAll(g.lookUp(names))
	if n += more; n > 0 {
		return n, nil
	}
	return 0, errors.Join(err, err2)
}

// joinLoop keeps looking for members that are not in the table, for ever:
// memberlist itself gives up on a dead member after half a minute.
func (g *Gossip) joinLoop() {
	t := g.cfg.Tuning
	alone, settle, moved := t.RejoinAlone, settleRounds, 0
	for g.ctx.Err() == nil {
		if !g.hasLeft() {
			settling := settle > 0 && settle < settleRounds
			known, names := g.candidates(settling || moved > 0)
			_, _ = g.joinAll(known)
			// While nobody else is alive a name may be the only way; otherwise it
			// is one more.
			_, _ = g.joinAll(g.without(g.lookUp(names)))
		}
		var wait time.Duration
		switch n := len(g.IDs()); {
		case n == 0:
			wait, alone = min(alone, t.Rejoin), min(2*alone, aloneMax)
			settle = settleRounds
		case moved > 0:
			if moved--; moved == movedRounds-sweepAfter {
				g.sweep()
			}
			g.announce()
			wait = movedEvery
		case settle > 0:
			wait = min(settleEvery*time.Duration(1+n/20), t.Rejoin)
			settle--
			alone = t.RejoinAlone
		default:
			wait = t.Rejoin
		}
		timer := time.NewTimer(wait - rand.N(wait/4+1))
		select {
		case <-g.ctx.Done():
		case <-g.moved:
			moved = movedRounds
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (g *Gossip) sweep() {
	g.mu.RLock()
	gen := g.gen
	g.mu.RUnlock()
	g.table.sweep(gen)
}

func (g *Gossip) hasLeft() bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.left
}

// candidates are the known addresses where no live member is, and while
// settling one where there is; and the names of peers, whose addresses are not
// known.
func (g *Gossip) candidates(settling bool) (out []netip.AddrPort, names []name) {
	up, seen := map[netip.AddrPort]bool{}, map[netip.AddrPort]bool{}
	rows := g.table.list()
	for _, r := range rows {
		up[r.Addr] = up[r.Addr] || r.Up()
	}
	add := func(a netip.AddrPort) {
		if a.IsValid() && !up[a] && !seen[a] {
			seen[a] = true
			out = append(out, a)
		}
	}
	for _, r := range rows {
		add(r.Addr)
	}
	if g.cfg.Peers != nil {
		var addrs []netip.AddrPort
		addrs, names = g.known(g.cfg.Peers())
		for _, a := range addrs {
			add(a)
		}
	}
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	out = out[:min(len(out), joinRound)]
	if settling {
		out = append(out, anyOther(rows)...)
	}
	return out, names
}

// without drops the addresses where a live member is.
func (g *Gossip) without(addrs []netip.AddrPort) []netip.AddrPort {
	up := map[netip.AddrPort]bool{}
	for _, r := range g.table.list() {
		up[r.Addr] = up[r.Addr] || r.Up()
	}
	addrs = slices.DeleteFunc(addrs, func(a netip.AddrPort) bool { return up[a] })
	return addrs[:min(len(addrs), joinRound)]
}

// anyOther picks the address of one live member, if there is one.
func anyOther(rows []Row) []netip.AddrPort {
	var others []netip.AddrPort
	for _, r := range rows {
		if r.Up() && !r.Self {
			others = append(others, r.Addr)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return []netip.AddrPort{others[rand.IntN(len(others))]}
}

// known are the peers that are given as addresses; names are left to lookUp.
func (g *Gossip) known(peers []string) (addrs []netip.AddrPort, names []name) {
	for _, s := range peers {
		host, port, err := splitPort(s, g.cfg.Port)
		if err != nil {
			g.log.Debug("ignored a peer address", zap.String("peer", s), zap.Error(err))
			continue
		}
		if a, err := netip.ParseAddr(host); err == nil {
			addrs = append(addrs, netip.AddrPortFrom(a.Unmap(), port))
			continue
		}
		names = append(names, name{host, port})
	}
	return addrs, names
}

// name is a peer whose address has to be asked for.
type name struct {
	host string
	port uint16
}

// lookUp asks for all names side by side: a name server that is dead costs one
// resolveTimeout, however many names there are.
func (g *Gossip) lookUp(names []name) (out []netip.AddrPort) {
	if len(names) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(g.ctx, resolveTimeout)
	defer cancel()
	found := make([][]netip.Addr, len(names))
	var wg sync.WaitGroup
	for i, n := range names {
		wg.Go(func() {
			ips, err := g.resolver().LookupNetIP(ctx, "ip4", n.host)
			if err != nil {
				g.log.Debug("look up a peer", zap.String("peer", n.host), zap.Error(err))
			}
			found[i] = ips
		})
	}
	wg.Wait()
	for i, ips := range found {
		for _, ip := range ips {
			out = append(out, netip.AddrPortFrom(ip.Unmap(), names[i].port))
		}
	}
	return out
}

func (g *Gossip) resolver() *net.Resolver {
	if g.cfg.Resolver != nil {
		return g.cfg.Resolver
	}
	return net.DefaultResolver
}

// splitPort takes "host", "host:port", "[v6]:port" or a bare IPv6 apart.
func splitPort(s string, port int) (string, uint16, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", 0, errors.New("empty address")
	}
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.String(), uint16(port), nil
	}
	if !strings.Contains(s, ":") {
		return s, uint16(port), nil
	}
	host, p, err := net.SplitHostPort(s)
	if err != nil {
		return "", 0, fmt.Errorf("parse address: %w", err)
	}
	n, err := strconv.ParseUint(p, 10, 16)
	if err != nil || n == 0 || host == "" {
		return "", 0, fmt.Errorf("parse address %q: want host:port", s)
	}
	return host, uint16(n), nil
}

// joinAll tries these addresses, several at a time.
func (g *Gossip) joinAll(addrs []netip.AddrPort) (int, error) {
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		n     int
		errs  []error
		slots = make(chan struct{}, joinAtOnce)
	)
	for _, a := range addrs {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			err := g.joinOne(a)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("join %s: %w", a, err))
				return
			}
			n++
		})
	}
	wg.Wait()
	if n > 0 || len(addrs) == 0 {
		return n, nil
	}
	return 0, errors.Join(errs...)
}

// joinOne exchanges the member lists with one address. Alone and with two keys
// it tries the other one if this one was not understood: whoever is there tells
// by its answer which site and token it has.
func (g *Gossip) joinOne(a netip.AddrPort) error {
	ml := g.list()
	if ml == nil || g.ctx.Err() != nil {
		return ErrClosed
	}
	err := g.tryJoin(ml, a)
	if isWrongToken(err) && len(g.IDs()) == 0 && g.keys.toggle() {
		err = g.tryJoin(ml, a)
	}
	switch {
	case isWrongToken(err):
		g.strange.note(a.Addr().String(), WrongToken)
	case isForeign(err):
		if g.strange.note(a.Addr().String(), OtherSite) >= foreignTries {
			g.table.forget(a)
		}
	}
	return err
}

func (g *Gossip) tryJoin(ml *memberlist.Memberlist, a netip.AddrPort) error {
	_, err := ml.Join([]string{a.String()})
	return err
}

// isForeign recognises a peer that hung up on our label: it speaks, but for
// another site (or it is no member at all).
func isForeign(err error) bool {
	return err != nil && (errors.Is(err, io.EOF) || strings.HasSuffix(strings.TrimSpace(err.Error()), "EOF"))
}
