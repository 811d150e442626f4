package config

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
)

const groupForward = "Programs of this PC"

func forwardKeys() []*Key {
	return in(groupForward,
		number("FORWARD_PORT", "0", 0, 65534,
			"A program of this PC that connects to this port of 127.0.0.1 reaches the relay wherever it is; by the next port it reaches the relay's next one. 0 = off. 9540 is advised.",
			func(c *Config) *int { return &c.ForwardPort }),
		duration("FORWARD_HOLD", "15s", 100*time.Millisecond, 5*time.Minute, "",
			"How long a new connection is held while no relay can be reached, before it is closed or led to the fallback.",
			func(c *Config) *time.Duration { return &c.ForwardHold }),
		boolean("FORWARD_FALLBACK", "0",
			"1 = lead programs to RELAY_HOST when they were held for FORWARD_HOLD, and back when the site has a relay.",
			func(c *Config) *bool { return &c.ForwardFallback }),
		duration("FORWARD_IDLE", "0", 0, 24*time.Hour, "",
			"After how long without a byte a connection is ended. 0 = never.",
			func(c *Config) *time.Duration { return &c.ForwardIdle }),
	)
}

// ForwardTo splits RELAY_HOST for the forwarder. Without a port it has RELAY_PORT.
// Port 0 says that there is no RELAY_HOST.
func (c *Config) ForwardTo() (host string, port int) {
	if c.RelayHost == "" {
		return "", 0
	}
	host, port, err := splitHost(c.RelayHost)
	if err != nil {
		return "", 0 // refused when it was read
	}
	if port == 0 {
		port = c.RelayPort
	}
	return host, port
}

// forwarding refuses a FORWARD_PORT that another part of this PC opens, and a
// fallback that there is none of or that is the forwarder itself.
func (r *resolver) forwarding() {
	c := &r.config
	if c.ForwardPort == 0 || !r.ok("FORWARD_PORT") {
		return
	}
	_, digits, _ := net.SplitHostPort(c.APIAddr)
	api, _ := strconv.Atoi(digits)
	both := fmt.Sprintf("%d and %d", c.ForwardPort, c.ForwardPort+1)
	for _, other := range []struct {
		key   string
		ports []int
		want  string
	}{
		{"RELAY_PORT", []int{c.RelayPort, c.RelayPort + 1}, "a port of the relay"},
		{"API_ADDR", []int{api}, "the port of the local HTTP interface"},
		{"GOSSIP_PORT", []int{c.GossipPort}, "the port of the members"},
	} {
		for _, p := range other.ports {
			if r.ok(other.key) && p > 0 && (p == c.ForwardPort || p == c.ForwardPort+1) {
				r.clash("FORWARD_PORT", other.key, "takes "+both+", of which one is "+other.want, "another port")
				break
			}
		}
	}
	if !c.ForwardFallback || !r.ok("FORWARD_FALLBACK", "RELAY_HOST", "RELAY_PORT") {
		return
	}
	host, port := c.ForwardTo()
	ip, err := netip.ParseAddr(host)
	own := host == "localhost" || err == nil && ip.IsLoopback()
	switch {
	case port == 0:
		r.clash("FORWARD_FALLBACK", "RELAY_HOST", "has nowhere to lead programs", "1 only with a RELAY_HOST")
	case own && max(port-c.ForwardPort, c.ForwardPort-port) <= 1:
		r.clash("RELAY_HOST", "FORWARD_PORT", "would lead the forwarder to itself", "another host or port")
	}
}
