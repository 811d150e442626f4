//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Names of namespaces begin with prefix and the pid of the test that made them.
const prefix = "floatrelay-e2e-"

func ownPrefix() string { return prefix + strconv.Itoa(os.Getpid()) + "-" }

// sweep removes what a killed test left behind.
func sweep() {
	for _, ns := range namespaces(prefix) {
		pid, _ := strconv.Atoi(strings.SplitN(strings.TrimPrefix(ns, prefix), "-", 2)[0])
		if syscall.Kill(pid, 0) != nil {
			removeNamespace(ns)
		}
	}
}

// removeAll removes the namespaces whose names begin so.
func removeAll(begin string) {
	for _, ns := range namespaces(begin) {
		removeNamespace(ns)
	}
}

func namespaces(begin string) (names []string) {
	b, _ := exec.Command("ip", "netns", "list").Output()
	for _, line := range strings.Split(string(b), "\n") {
		if f := strings.Fields(line); len(f) > 0 && strings.HasPrefix(f[0], begin) {
			names = append(names, f[0])
		}
	}
	return names
}

// removeNamespace ends what runs in a namespace of ours, then removes it.
func removeNamespace(ns string) {
	b, _ := exec.Command("ip", "netns", "pids", ns).Output()
	for _, f := range strings.Fields(string(b)) {
		if pid, err := strconv.Atoi(f); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = exec.Command("ip", "netns", "del", ns).Run()
}

// The addresses of a site: its network, the file server, and the first PC.
const (
	netPrefix = "10.77.0."
	serverIP  = netPrefix + "250"
	gatewayIP = netPrefix + "254"
)

// lan is a switch with ports: a namespace that holds a bridge. Ports are named
// after who is plugged in. Several may be there at once: each has namespaces of
// its own, so that the same addresses do not meet.
type lan struct {
	t      testing.TB
	prefix string // of its namespaces
	ns     string // the switch
}

var lans atomic.Int64 // made so far

// newLAN makes an empty switch; it is removed with everything plugged in when
// the test ends.
func newLAN(t testing.TB) *lan {
	prefix := fmt.Sprintf("%s%d-", ownPrefix(), lans.Add(1))
	l := &lan{t: t, prefix: prefix, ns: prefix + "switch"}
	t.Cleanup(func() { removeAll(prefix) })
	run(t, "ip", "netns", "add", l.ns)
	l.in("ip", "link", "add", "br0", "type", "bridge", "forward_delay", "0", "mcast_snooping", "0")
	l.in("ip", "link", "set", "br0", "up")
	l.in("ip", "addr", "add", gatewayIP+"/24", "dev", "br0")
	l.Heal()
	return l
}

// plug adds a host: a namespace with a loopback and one card. mac tells PCs
// apart, as hardware does.
func (l *lan) plug(port, ip, mac string) (ns string) {
	ns = l.prefix + port
	run(l.t, "ip", "netns", "add", ns)
	run(l.t, "ip", "link", "add", "eth0", "address", mac, "netns", ns, "type", "veth", "peer", "name", port, "netns", l.ns)
	l.in("ip", "link", "set", port, "master", "br0", "up")
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"addr", "add", ip + "/24", "dev", "eth0"},
		{"link", "set", "eth0", "up"},
		{"route", "add", "default", "via", gatewayIP},
	} {
		run(l.t, "ip", append([]string{"-n", ns}, args...)...)
	}
	return ns
}

func (l *lan) in(args ...string) { run(l.t, "ip", append([]string{"netns", "exec", l.ns}, args...)...) }

// Heal ends every cut.
func (l *lan) Heal() { l.rules("") }

// rules replaces what the switch refuses to forward. Dropping it there, and not
// on the hosts, is what a broken cable does: nobody is told.
func (l *lan) rules(text string) {
	table := "table bridge cut\ndelete table bridge cut\ntable bridge cut {\n chain forward {\n" +
		"  type filter hook forward priority 0; policy accept;\n" + text + " }\n}\n"
	cmd := exec.Command("ip", "netns", "exec", l.ns, "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(table)
	b, err := cmd.CombinedOutput()
	require.NoError(l.t, err, "%s\n%s", table, b)
}

func drop(from, to string) string {
	rule := "  "
	if from != "" {
		rule += "iifname " + from + " "
	}
	if to != "" {
		rule += "oifname " + to + " "
	}
	return rule + "drop\n"
}

// CutAll cuts a host off from everything.
func (l *lan) CutAll(port string) { l.rules(drop(port, "") + drop("", port)) }

// CutShare cuts a host off from the file server only.
func (l *lan) CutShare(port string) { l.rules(drop(port, "server") + drop("server", port)) }

// CutPeers cuts a host off from the other PCs only.
func (l *lan) CutPeers(port string) {
	l.rules(fmt.Sprintf("  iifname %[1]s oifname != server drop\n  oifname %[1]s iifname != server drop\n", port))
}

// OneWay loses what one host sends to others; the way back is open.
func (l *lan) OneWay(from string, to ...string) {
	text := ""
	for _, p := range to {
		text += drop(from, p)
	}
	l.rules(text)
}

// OneWayTo loses what others send to one host.
func (l *lan) OneWayTo(to string, from ...string) {
	text := ""
	for _, p := range from {
		text += drop(p, to)
	}
	l.rules(text)
}

// BlockUDP loses all UDP; TCP passes.
func (l *lan) BlockUDP() { l.rules("  ip protocol udp drop\n") }

// Split parts the hosts of one side from all others, the server included
// unless it is named.
func (l *lan) Split(side ...string) {
	set := "{ " + strings.Join(side, ", ") + " }"
	l.rules(fmt.Sprintf("  iifname %[1]s oifname != %[1]s drop\n  iifname != %[1]s oifname %[1]s drop\n", set))
}

// Down takes a port's link away, Up gives it back.
func (l *lan) Down(ports ...string) { l.link("down", ports) }

// Up gives a link back.
func (l *lan) Up(ports ...string) { l.link("up", ports) }

func (l *lan) link(state string, ports []string) {
	for _, p := range ports {
		l.in("ip", "link", "set", p, state)
	}
}

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	b, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %s: %s", name, strings.Join(args, " "), b)
}
