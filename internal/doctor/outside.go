package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
)

const (
	// mostKnocked bounds how many PCs are tried without a daemon, knockAtOnce
	// how many at the same time.
	mostKnocked = 64
	knockAtOnce = 32
)

// knocker tries one PC from outside.
type knocker func(ctx context.Context, addr netip.AddrPort, member lease.ID) gossip.Knocked

// outsideCheck tries the PCs it can find on the share, in GOSSIP_PEERS and in
// STATE_DIR, without being a member.
func outsideCheck(cfg config.Config, open func() (lease.Share, error)) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		all := suspects(ctx, cfg, open)
		all = slices.DeleteFunc(all, func(s suspect) bool { return doubleOf(cfg, s, tell) })
		if len(all) == 0 {
			tell.OK("no other PC is known yet")
			return
		}
		knock, end, err := newKnocker(ctx, cfg, all)
		if err != nil {
			return // the address check says why
		}
		defer end()
		if len(all) > mostKnocked {
			tell.Warn("start the daemon, then repeat the check", "only %d of %d PCs are tried", mostKnocked, len(all))
			all = all[:mostKnocked]
		}
		judgeKnocks(cfg, all, knockAll(ctx, knock, all), tell)
	}
}

// newKnocker opens ports of its own, free ones: a firewall that lets answers
// through is not told apart from one that lets everything through.
func newKnocker(ctx context.Context, cfg config.Config, known []suspect) (knocker, func(), error) {
	_, c, err := findAddress(ctx, cfg, known)
	if err != nil {
		return nil, nil, err
	}
	o, err := gossip.NewOutsider(cfg.KMSN, string(cfg.Token), string(cfg.OldToken), c.Addr)
	if err != nil {
		return nil, nil, err
	}
	return o.Knock, func() { _ = o.Close() }, nil
}

func knockAll(ctx context.Context, knock knocker, all []suspect) []gossip.Knocked {
	out := make([]gossip.Knocked, len(all))
	slots := make(chan struct{}, knockAtOnce)
	var wg sync.WaitGroup
	for i, s := range all {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			out[i] = knock(ctx, s.addr, s.id)
		})
	}
	wg.Wait()
	return out
}

// judgeKnocks says what the knocking showed, a line per kind of finding.
func judgeKnocks(cfg config.Config, all []suspect, found []gossip.Knocked, tell Tell) {
	var g groups
	var good, silent []string
	stations := map[string][]string{}
	for i, s := range all {
		k := found[i]
		if k.UDP || k.Proved {
			stations[strings.ToLower(s.station)] = append(stations[strings.ToLower(s.station)], s.String())
		}
		switch f, level := judgeKnock(k, s.id == lease.ID{}, cfg.GossipPort); {
		case level == OK && k.UDP:
			good = append(good, s.String())
		case level == OK:
			silent = append(silent, s.String())
		default:
			f.level = level
			g.add(f, s.String())
		}
	}
	if same := stations[strings.ToLower(cfg.Station)]; len(same) > 0 {
		tell.Fail("give each PC a STATION of its own in stk.ini", "more than one PC has STATION=%s: this PC, %s", cfg.Station, names(same))
	}
	g.tell(tell)
	if len(good) > 0 {
		tell.OK("reached from this PC by UDP and TCP: %s", names(good))
	}
	if len(silent) > 0 {
		tell.Warn("nothing if these PCs are off; otherwise start floatrelay there, or "+openPort(cfg.GossipPort), "no answer from %s", names(silent))
	}
}

func openPort(port int) string {
	return fmt.Sprintf("allow port %d in the firewalls of both PCs, UDP and TCP ('floatrelay firewall')", port)
}

// judgeKnock tells apart why a PC is not reached as it should be. unnamed is a
// PC that cannot prove to be the one meant.
func judgeKnock(k gossip.Knocked, unnamed bool, port int) (finding, Level) {
	switch {
	case k.UDP && k.TCP:
		return finding{}, OK
	case k.UDP:
		return finding{text: "TCP connections of this PC do not reach %s, UDP does", do: openPort(port)}, Failure
	case k.Proved:
		return finding{text: "UDP does not pass between this PC and %s, TCP does", do: openPort(port)}, Failure
	case k.Speaks && unnamed:
		return finding{text: "UDP does not pass between this PC and %s, or RELAY_TOKEN or KMSN differ there",
			do: openPort(port) + "; compare 'floatrelay token fingerprint' and KMSN on both PCs"}, Failure
	case k.Speaks:
		return finding{text: "another RELAY_TOKEN or KMSN than on this PC is used by %s",
			do: "compare 'floatrelay token fingerprint' and KMSN on both PCs and put the right ones into stk.ini"}, Failure
	case k.TCP:
		return finding{text: "another program answers on the member port of %s", do: "end that program there, or choose another GOSSIP_PORT, the same on every PC"}, Failure
	}
	return finding{}, OK // off, or nothing gets through: not told apart
}

// doubleOf tells of a PC that has our node id, and reports whether s is this PC
// itself or such a copy: not one to knock at.
func doubleOf(cfg config.Config, s suspect, tell Tell) bool {
	mine := ownAddr(s.addr.Addr())
	if s.id.Node != "" && s.id.Node == ownNode(cfg.StateDir) {
		if !mine && !strings.EqualFold(s.station, cfg.Station) {
			tell.Fail("stop floatrelay on the copy, delete the file 'node' in its STATE_DIR, and start it again; neither PC may lead until then",
				"one PC is a copy of the other, both have the same node id: this PC, %s", s)
		}
		return true
	}
	return mine && int(s.addr.Port()) == cfg.GossipPort
}

// judgeOff tries the members the daemon takes for dead: one that answers is cut
// off by something that does not stop everything.
func judgeOff(ctx context.Context, cfg config.Config, off []localapi.Surveyed, tell Tell) {
	var all []suspect
	for _, m := range off[:min(len(off), mostKnocked)] {
		node, run, _ := strings.Cut(m.ID, "/")
		if addr, err := netip.ParseAddrPort(m.Addr); err == nil {
			all = append(all, suspect{lease.ID{Node: node, Run: run}, m.Station, addr})
		}
	}
	if len(all) == 0 {
		return
	}
	knock, end, err := newKnocker(ctx, cfg, all)
	if err != nil {
		return
	}
	defer end()
	var g groups
	var quiet []string
	for i, k := range knockAll(ctx, knock, all) {
		f, level := judgeKnock(k, false, cfg.GossipPort)
		switch {
		case level == Failure:
			f.level = Failure
			g.add(f, all[i].String())
		case k.UDP:
			g.add(finding{Warning, "the daemon takes %s for off, but it answers", "repeat the check; if it stays, " + openPort(cfg.GossipPort)}, all[i].String())
		default:
			quiet = append(quiet, all[i].String())
		}
	}
	g.tell(tell)
	if len(quiet) > 0 {
		tell.OK("off, as far as this PC sees: %s", names(quiet))
	}
}
