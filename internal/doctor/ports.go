package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sort"
	"strconv"
	"strings"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/relayproc"
)

func portsCheck(cfg config.Config, status ask) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		s, err := status(ctx)
		relayHere := err == nil && s.Relay.State != "" && s.Relay.State != "none"
		found := portErrors(relayproc.PortsFree("", cfg.RelayPort))
		for _, port := range []int{cfg.RelayPort, cfg.RelayPort + 1} {
			if !relayHere || !shared(port, "relay port", "RELAY_PORT", tell) {
				relayPort(port, found[port], relayHere, tell)
			}
		}
		if err == nil {
			if !shared(cfg.GossipPort, "member port", "GOSSIP_PORT", tell) {
				tell.OK("ports of the daemon: %d (members) and %s (commands), in use by it", cfg.GossipPort, cfg.APIAddr)
			}
			return
		}
		gossipPort(ctx, cfg, tell)
		apiPort(ctx, cfg, tell)
	}
}

// portUses are the ports of stk.ini.
func portUses(cfg config.Config) []use {
	uses := []use{
		{cfg.RelayPort, "relay port", "RELAY_PORT"}, {cfg.RelayPort + 1, "relay port", "RELAY_PORT"},
		{cfg.GossipPort, "member port", "GOSSIP_PORT"},
	}
	if p := cfg.ForwardPort; p > 0 {
		uses = append(uses, use{p, "program port", "FORWARD_PORT"}, use{p + 1, "program port", "FORWARD_PORT"})
	}
	if _, p, err := net.SplitHostPort(cfg.APIAddr); err == nil {
		n, _ := strconv.Atoi(p)
		uses = append(uses, use{n, "command port", "API_ADDR"})
	}
	return uses
}

// relayPort judges one port of the relay; pe is nil if it is free. Who holds it
// while the relay runs here is the daemon's concern.
func relayPort(port int, pe *relayproc.PortError, relayHere bool, tell Tell) {
	switch {
	case pe == nil:
		tell.OK("relay port %d is free", port)
	case relayHere:
		tell.OK("relay port %d is used by the relay of this PC", port)
	case pe.Kind == relayproc.PortHeld:
		tell.Fail("end that program: an old relay, its watchdog, or a stranger; or choose another RELAY_PORT", "relay %v", pe)
	case pe.Kind == relayproc.PortTimeWait:
		tell.Warn("nothing: it becomes free by itself within minutes", "relay %v", pe)
	case pe.Kind == relayproc.PortReserved:
		tell.Fail("see 'netsh int ipv4 show excludedportrange tcp'; free the range or choose another RELAY_PORT", "relay %v", pe)
	default:
		tell.Fail("choose another RELAY_PORT", "relay %v", pe)
	}
}

// shared tells of a port that two programs listen on, each on an address of its
// own: whoever connects reaches the one or the other.
func shared(port int, what, key string, tell Tell) bool {
	return judgeShared(relayproc.PortHolders(port), port, what, key, tell)
}

func judgeShared(holders []relayproc.Holder, port int, what, key string, tell Tell) bool {
	seen := map[int]relayproc.Holder{}
	for _, h := range holders {
		seen[h.PID] = h
	}
	if len(seen) < 2 {
		return false
	}
	var all []string
	for _, h := range seen {
		all = append(all, h.String())
	}
	sort.Strings(all)
	tell.Fail("end the program that does not belong there, or choose another "+key, "%s %d is held twice: by %s", what, port, strings.Join(all, " and by "))
	return true
}

// portErrors sorts what PortsFree found by port.
func portErrors(err error) map[int]*relayproc.PortError {
	found := map[int]*relayproc.PortError{}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // the outermost is meant
		all = joined.Unwrap()
	}
	for _, e := range all {
		var pe *relayproc.PortError
		if errors.As(e, &pe) {
			found[pe.Port] = pe
		}
	}
	return found
}

// gossipPort tries what the daemon will do. It is not told apart from the
// daemon's own use, so it is asked only without one.
func gossipPort(ctx context.Context, cfg config.Config, tell Tell) {
	addr := net.JoinHostPort(cfg.GossipBind, strconv.Itoa(cfg.GossipPort))
	if cfg.GossipBind != "" && !ownBind(cfg.GossipBind) {
		return // the address check says so
	}
	err := errors.Join(tryTCP(ctx, addr), tryUDP(ctx, addr))
	held := heldBy(cfg.GossipBind, cfg.GossipPort)
	if err == nil && held == "" {
		tell.OK("member port %s is free, UDP and TCP", addr)
		return
	}
	if err == nil { // Windows lets two programs listen, each on addresses of its own
		err = errors.New("another program listens there")
	}
	tell.Fail("end the other program (another floatrelay?), or choose another GOSSIP_PORT, the same on every PC",
		"member port %s cannot be used%s: %v", addr, held, err)
}

func apiPort(ctx context.Context, cfg config.Config, tell Tell) {
	host, port, _ := net.SplitHostPort(cfg.APIAddr)
	n, _ := strconv.Atoi(port) // config checked both
	err, held := tryTCP(ctx, cfg.APIAddr), heldBy(host, n)
	if err == nil && (held == "" || n == 0) {
		tell.OK("command port %s is free", cfg.APIAddr)
		return
	}
	if err == nil {
		err = errors.New("another program listens there")
	}
	tell.Fail("end the other program, or choose another API_ADDR",
		"command port %s cannot be used%s: %v", cfg.APIAddr, held, err)
}

func heldBy(addr string, port int) string {
	if h, held := relayproc.PortHolder(addr, port); held {
		return fmt.Sprintf(", it is held by %v", h)
	}
	return ""
}

func tryTCP(ctx context.Context, addr string) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return ln.Close()
}

func tryUDP(ctx context.Context, addr string) error {
	var lc net.ListenConfig
	pc, err := lc.ListenPacket(ctx, "udp", addr)
	if err != nil {
		return err
	}
	return pc.Close()
}
