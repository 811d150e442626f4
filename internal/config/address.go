package config

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

func bindAddress(c *Config, text string) (string, error) {
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.IsMulticast() {
		return "", errors.New("is not an IP address" + meant(text))
	}
	c.GossipBind = ip.String()
	return c.GossipBind, nil
}

// advertise accepts what others can connect to. Loopback is accepted because
// the demo runs there; nobody else writes it down.
func advertise(c *Config, text string) (string, error) {
	ip, err := netip.ParseAddr(text)
	if err != nil || !ip.Is4() {
		return "", errors.New("is not an IPv4 address" + meant(text))
	}
	if ip.IsUnspecified() || ip.IsMulticast() || ip == broadcast {
		return "", errors.New("is not an address others can connect to")
	}
	c.GossipAdvertise = ip.String()
	return c.GossipAdvertise, nil
}

// peers needs GOSSIP_PORT, which stands before it in the table.
func peers(c *Config, text string) (string, error) {
	var list []string
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",; \t", r) }) {
		host, port, err := splitHost(p)
		if err != nil {
			return "", err
		}
		if ip, err := netip.ParseAddr(host); err == nil {
			switch {
			case !ip.Is4():
				return "", errors.New("names " + host + ": members talk IPv4 only")
			case ip.IsUnspecified(), ip.IsMulticast(), ip == broadcast:
				return "", errors.New("names " + host + ", which is no address of a PC")
			}
		}
		if port == 0 {
			port = c.GossipPort
		}
		list = append(list, net.JoinHostPort(host, strconv.Itoa(port)))
	}
	c.GossipPeers = list
	return strings.Join(list, ", "), nil
}

func relayHost(c *Config, text string) (string, error) {
	if _, _, err := splitHost(text); err != nil {
		return "", err
	}
	c.RelayHost = text
	return text, nil
}

// splitHost reads "host", "host:port", "[v6]:port" or a bare IPv6 address.
// Port 0 means none was given.
func splitHost(text string) (string, int, error) {
	if ip, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return ip.String(), 0, nil
	}
	host, _, found := strings.Cut(text, ":")
	port := 0
	if found {
		h, p, err := net.SplitHostPort(text)
		if err != nil {
			return "", 0, errors.New("is not a host with a port")
		}
		host = h
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535 {
			return "", 0, errors.New("has a port outside 1 to 65535")
		}
	}
	if !isHost(host) {
		return "", 0, errors.New("holds " + printable(host) + ", which is not a host name or IP address" + meant(host))
	}
	return host, port, nil
}

// isHost accepts IP addresses and the names Windows and DNS allow.
func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	if s == "" || len(s) > 253 {
		return false
	}
	labels := strings.Split(strings.TrimSuffix(s, "."), ".")
	for _, l := range labels {
		if l == "" || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
	}
	if allDigits(labels[len(labels)-1]) {
		return false // a number at the end: an address, and a wrong one
	}
	return strings.IndexFunc(s, func(r rune) bool { return !isKeyRune(r) && r != '-' && r != '.' }) < 0
}

func allDigits(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// meant names the address that a text with leading zeros probably is, for the
// end of an error. Some programs take such numbers for octal, so it is not used.
func meant(text string) string {
	parts := strings.Split(text, ".")
	for i, p := range parts {
		if !allDigits(p) || p == "" {
			return ""
		}
		if parts[i] = strings.TrimLeft(p, "0"); parts[i] == "" {
			parts[i] = "0"
		}
	}
	ip, err := netip.ParseAddr(strings.Join(parts, "."))
	if err != nil || ip.String() == text {
		return ""
	}
	return " (did you mean " + ip.String() + "?)"
}

func apiAddr(c *Config, text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", errors.New("is not an address with a port")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", errors.New("has a port outside 0 to 65535")
	}
	if ip, err := netip.ParseAddr(host); err != nil && host != "localhost" || err == nil && !ip.IsLoopback() {
		return "", errors.New("is not a loopback address")
	}
	c.APIAddr = text
	return text, nil
}
