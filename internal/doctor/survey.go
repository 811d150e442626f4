package doctor

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
)

// poll returns what the daemon found out by asking the members.
type poll func(ctx context.Context) (localapi.Survey, error)

// surveyOnce shares one survey among the checks.
func surveyOnce(survey poll) poll {
	var once sync.Once
	var s localapi.Survey
	err := error(localapi.ErrNoDaemon)
	return func(ctx context.Context) (localapi.Survey, error) {
		once.Do(func() {
			if survey != nil {
				s, err = survey(ctx)
			}
		})
		return s, err
	}
}

// membersCheck says how this PC and the others reach each other.
func membersCheck(cfg config.Config, survey poll, outside func(context.Context, Tell)) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		s, err := survey(ctx)
		var refused *localapi.RefusedError
		switch {
		case err == nil:
			judgeSurvey(cfg, s, tell)
			judgeOff(ctx, cfg, offMembers(s), tell)
		case errors.Is(err, localapi.ErrNoDaemon):
			tell.Warn("start the daemon, then repeat the check",
				"not checked without a running daemon: whether the other PCs reach this one, "+
					"their clocks, and a race of two PCs for new files; share ids are not compared with theirs")
			outside(ctx, tell)
		case errors.As(err, &refused) && refused.Code == http.StatusNotFound:
			tell.Warn("restart the daemon with this version, then repeat the check", "the daemon that runs is older and cannot ask the members")
		case errors.As(err, &refused) && refused.Code == http.StatusUnauthorized:
			tell.Warn("restart the daemon, then repeat the check", "the daemon did not ask the members: RELAY_TOKEN or KMSN in stk.ini is not what it was started with")
		default:
			tell.Warn("repeat the check", "the daemon did not ask the members: %v", err)
		}
	}
}

func judgeSurvey(cfg config.Config, s localapi.Survey, tell Tell) {
	judgeDoubles(s, tell)
	judgeShares(s, tell)
	judgeStrangers(s, tell)
	var g groups
	good := []string{}
	for _, m := range s.Members {
		switch f, bad := judgeWays(m, cfg.GossipPort, s.Version); {
		case isOff(m): // judgeOff's business
		case bad:
			g.add(f, who(m))
		default:
			good = append(good, m.Station)
		}
	}
	g.tell(tell)
	switch {
	case len(good) > 0:
		tell.OK("reached by UDP and TCP, both ways: %s", names(good))
	case len(s.Members) == 0:
		tell.OK("no other PC is known yet")
	}
}

func offMembers(s localapi.Survey) (off []localapi.Surveyed) {
	for _, m := range s.Members {
		if isOff(m) {
			off = append(off, m)
		}
	}
	return off
}

func isOff(m localapi.Surveyed) bool {
	return m.State == localapi.StateDead || m.State == localapi.StateLeft
}

func who(m localapi.Surveyed) string { return m.Station + " (" + m.Addr + ")" }

// judgeWays says what is wrong with the ways to and from one live member.
func judgeWays(m localapi.Surveyed, port int, ours string) (f finding, bad bool) {
	open := openPort(port)
	switch {
	case !m.Asked:
		return finding{Warning, "there was no time to ask %s", "repeat the check"}, true
	case !m.Answered && m.Version != ours:
		return finding{Warning, "%s did not answer this check; floatrelay there is of another version", "update floatrelay on every PC"}, true
	case !m.Answered:
		return finding{Failure, "%s and this PC do not reach each other, neither by UDP nor by TCP, though others see both", open}, true
	case !m.UDPOut && !m.UDPBack:
		return finding{Failure, "UDP does not pass between this PC and %s, TCP does", open}, true
	case !m.UDPOut:
		return finding{Failure, "UDP packets of this PC do not reach %s", open}, true
	case !m.UDPBack:
		return finding{Failure, "UDP packets of %s do not reach this PC", open}, true
	case !m.TCPOut && !m.TCPBack:
		return finding{Failure, "TCP does not pass between this PC and %s, UDP does", open}, true
	case !m.TCPOut:
		return finding{Failure, "TCP connections of this PC do not reach %s", open}, true
	case !m.TCPBack:
		return finding{Failure, "TCP connections of %s do not reach this PC", open}, true
	}
	return finding{}, false
}

// judgeDoubles looks for two live PCs with one STATION or one node id.
func judgeDoubles(s localapi.Survey, tell Tell) {
	live := []localapi.Surveyed{{ID: s.Self, Station: s.Station, Addr: "this PC"}}
	for _, m := range s.Members {
		if !isOff(m) {
			live = append(live, m)
		}
	}
	stations, nodes := map[string][]string{}, map[string][]string{}
	for _, m := range live {
		node, _, _ := strings.Cut(m.ID, "/")
		stations[strings.ToLower(m.Station)] = append(stations[strings.ToLower(m.Station)], who(m))
		nodes[node] = append(nodes[node], who(m))
	}
	for _, m := range live { // in the members' order
		node, _, _ := strings.Cut(m.ID, "/")
		if same := nodes[node]; len(same) > 1 {
			delete(nodes, node)
			delete(stations, strings.ToLower(m.Station))
			tell.Fail("stop floatrelay on the copy, delete the file 'node' in its STATE_DIR, and start it again; neither PC may lead until then",
				"one PC is a copy of the other, both have the same node id: %s", names(same))
		}
		if same := stations[strings.ToLower(m.Station)]; len(same) > 1 {
			delete(stations, strings.ToLower(m.Station))
			tell.Fail("give each PC a STATION of its own in stk.ini", "more than one PC has STATION=%s: %s", m.Station, names(same))
		}
	}
}

// judgeShares compares the share ids that the members follow.
func judgeShares(s localapi.Survey, tell Tell) {
	if s.Share == "" {
		return // the share's own check says why
	}
	var g groups
	for _, m := range s.Members {
		switch {
		case isOff(m) || m.Share == s.Share || !m.Answered:
		case m.Share == "":
			g.add(finding{Warning, "no chain is seen by %s", "run 'floatrelay doctor' there"}, who(m))
		default:
			g.add(finding{Failure, "another folder than on this PC, or an offline copy of it, is used by %s",
				"compare LEASE_DIR on these PCs and this one; turn off Offline Files and replication for this share"}, who(m))
		}
	}
	g.tell(tell)
}

func judgeStrangers(s localapi.Survey, tell Tell) {
	for _, x := range s.Strangers {
		if x.Code == "" {
			tell.Warn("restart the daemon with this version, then repeat the check", "the PC at %s: %s", x.Addr, x.Why)
			continue
		}
		if x.Code == localapi.TokenDiffers {
			wrong := "put the right one into stk.ini there"
			if !slices.ContainsFunc(s.Members, func(m localapi.Surveyed) bool { return !isOff(m) }) {
				wrong = "correct the wrong one; as this PC has found no colleague, that is probably its own"
			}
			tell.Fail("compare the fingerprints of RELAY_TOKEN on both PCs ('floatrelay token fingerprint') and "+wrong,
				"the PC at %s uses another RELAY_TOKEN", x.Addr)
			continue
		}
		tell.Warn("correct KMSN on one of the two if they belong to one site; otherwise take the address out of GOSSIP_PEERS",
			"the PC at %s belongs to another site (KMSN), or is no member", x.Addr)
	}
}
