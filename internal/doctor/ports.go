package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/relayproc"
)

func portsCheck(cfg config.Config, status ask) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		s, err := status(ctx)
		relayHere := err == nil && s.Relay.State != "" && s.Relay.State != "none"
		found := portErrors(relayproc.PortsFree("", cfg.RelayPort))
		for _, port := range []int{cfg.RelayPort, cfg.RelayPort + 1} {
			relayPort(port, found[port], relayHere, tell)
		}
		if err == nil {
			tell.OK("ports of the daemon: %d (members) and %s (commands), in use by it", cfg.GossipPort, cfg.APIAddr)
			return
		}
		gossipPort(ctx, cfg, tell)
		apiPort(ctx, cfg, tell)
	}
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
	err := errors.Join(tryTCP(ctx, addr), tryUDP(ctx, addr))
	if err == nil {
		tell.OK("member port %s is free, UDP and TCP", addr)
		return
	}
	tell.Fail("end the other program (another floatrelay?), or choose another GOSSIP_PORT, the same on every PC",
		"member port %s cannot be used%s: %v", addr, heldBy(cfg.GossipBind, cfg.GossipPort), err)
}

func apiPort(ctx context.Context, cfg config.Config, tell Tell) {
	err := tryTCP(ctx, cfg.APIAddr)
	if err == nil {
		tell.OK("command port %s is free", cfg.APIAddr)
		return
	}
	host, port, _ := net.SplitHostPort(cfg.APIAddr)
	n, _ := strconv.Atoi(port) // config checked both
	tell.Fail("end the other program, or choose another API_ADDR",
		"command port %s cannot be used%s: %v", cfg.APIAddr, heldBy(host, n), err)
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
