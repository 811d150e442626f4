//go:build !windows

package service

import (
	"fmt"
	"strings"
)

const firewallAdvice = " (this needs root, and nftables with a chain 'inet filter input'; ufw and firewalld have commands of their own)"

// comment marks our rules, by which they are found again.
const comment = "floatrelay"

// Open returns the commands that open the ports in the usual nftables chain.
// They hold until the firewall is loaded again: put them into its configuration
// to keep them.
func Open(p Ports) []Rule {
	var rules []Rule
	for _, match := range []string{
		fmt.Sprintf("udp dport %d", p.Gossip),
		fmt.Sprintf("tcp dport %d", p.Gossip),
		fmt.Sprintf("tcp dport %d-%d", p.Relay, p.Relay+1),
	} {
		r := append(Rule{"nft", "insert", "rule", "inet", "filter", "input"}, strings.Fields(match)...)
		rules = append(rules, append(r, "accept", "comment", `"`+comment+`"`))
	}
	return rules
}

// Close returns the command that takes Open back. nftables deletes by handle
// only, which is looked up by the comment.
func Close(Ports) []Rule {
	return []Rule{{"sh", "-c", `rules=$(nft -a list chain inet filter input) || exit; ` +
		`echo "$rules" | sed -n "s/.*comment \"` + comment + `\".* # handle //p" | ` +
		`xargs -r -n 1 nft delete rule inet filter input handle`}}
}

func shellWord(w string) string {
	if strings.ContainsAny(w, "\" ") {
		return "'" + w + "'"
	}
	return w
}
