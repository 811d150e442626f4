package config

import (
	"fmt"
	"net"
	"strconv"
	"time"
)

// relations checks what holds between keys. A key that was refused by itself
// takes part in none: its value is unknown.
func (r *resolver) relations() {
	c := &r.config
	r.atMost("LEASE_RENEW", c.LeaseRenew, "LEASE_TTL", c.LeaseTTL, 3)
	r.atMost("LEASE_FENCE", c.LeaseFence, "LEASE_TTL", c.LeaseTTL, 3)
	r.atMost("LEASE_BEAT", c.LeaseBeat, "LEASE_FENCE", c.LeaseFence, 5)
	r.ports()
	r.forwarding()
}

func (r *resolver) ok(keys ...string) bool {
	for _, k := range keys {
		if r.from[k].failed {
			return false
		}
	}
	return true
}

// atMost demands key <= other/div and names both, with their origins: either
// may be the one the user has to change, and either may be a default.
func (r *resolver) atMost(key string, d time.Duration, other string, o time.Duration, div int64) {
	if !r.ok(key, other) || d <= o/time.Duration(div) {
		return
	}
	r.clash(key, other, fmt.Sprintf("is more than %s/%d", other, div),
		fmt.Sprintf("at most %s", shortDuration(o/time.Duration(div))))
}

// clash reports key against other.
func (r *resolver) clash(key, other, cause, want string) {
	src, osrc := r.from[key], r.from[other]
	if src.line == 0 && !src.env {
		cause = "(default) " + cause
	}
	e := &Error{File: r.path, Line: src.line, Key: key, Value: src.text, Cause: cause,
		Want: fmt.Sprintf("%s while %s=%s (%s)", want, other, osrc.text, osrc.origin(r.path))}
	switch {
	case src.env:
		e.File, e.Key = "environment", EnvPrefix+key
	case src.line == 0:
		e.Line = osrc.line // the default is not wrong, what it meets is
	}
	r.problems = append(r.problems, e)
}

// ports refuses a port that two parts of one PC would open.
func (r *resolver) ports() {
	c := &r.config
	_, digits, _ := net.SplitHostPort(c.APIAddr)
	api, _ := strconv.Atoi(digits)
	relay := func(p int) bool { return p == c.RelayPort || p == c.RelayPort+1 }
	want := fmt.Sprintf("a port other than %d and %d", c.RelayPort, c.RelayPort+1)
	if r.ok("GOSSIP_PORT", "RELAY_PORT") && relay(c.GossipPort) {
		r.clash("GOSSIP_PORT", "RELAY_PORT", "is a port of the relay", want)
	}
	if r.ok("API_ADDR", "RELAY_PORT") && api > 0 && relay(api) {
		r.clash("API_ADDR", "RELAY_PORT", "is a port of the relay", want)
	}
	if r.ok("API_ADDR", "GOSSIP_PORT") && api > 0 && api == c.GossipPort {
		r.clash("API_ADDR", "GOSSIP_PORT", "is the port of the members", "another port")
	}
}
