package service

import (
	"fmt"
	"strings"
)

const firewallAdvice = " (this needs a console opened as administrator)"

// Open returns the commands that open the ports to this PC's own subnet,
// whatever kind of network Windows takes it for: in workgroups it is often
// "public".
func Open(p Ports) []Rule {
	var rules []Rule
	for _, r := range []struct{ name, protocol, ports string }{
		{"floatrelay gossip UDP", "UDP", fmt.Sprint(p.Gossip)},
		{"floatrelay gossip TCP", "TCP", fmt.Sprint(p.Gossip)},
		{"floatrelay relay TCP", "TCP", fmt.Sprintf("%d,%d", p.Relay, p.Relay+1)},
	} {
		rules = append(rules, Rule{"netsh", "advfirewall", "firewall", "add", "rule", "name=" + r.name,
			"dir=in", "action=allow", "protocol=" + r.protocol, "localport=" + r.ports, "remoteip=localsubnet", "profile=any"})
	}
	return rules
}

// Close returns the commands that take Open back.
func Close(Ports) []Rule {
	var rules []Rule
	for _, name := range []string{"floatrelay gossip UDP", "floatrelay gossip TCP", "floatrelay relay TCP"} {
		rules = append(rules, Rule{"netsh", "advfirewall", "firewall", "delete", "rule", "name=" + name})
	}
	return rules
}

// shellWord quotes for cmd.exe: name=a b as name="a b".
func shellWord(w string) string {
	if !strings.Contains(w, " ") {
		return w
	}
	key, value, ok := strings.Cut(w, "=")
	if !ok {
		return `"` + w + `"`
	}
	return key + `="` + value + `"`
}
