package lanaddr

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

var cardLine = regexp.MustCompile(`^card "([^"]*)"(.*)$`)

// parseFacts reads what Facts.String writes: what doctor prints on a PC.
func parseFacts(t *testing.T, text string) (f Facts) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if m := cardLine.FindStringSubmatch(line); m != nil {
			f.Cards = append(f.Cards, parseCard(t, m[1], strings.Fields(m[2])))
			continue
		}
		w := strings.Fields(line)
		require.True(t, len(w) >= 4 && w[2] == "from" && (w[0] == "member" || w[0] == "share"), line)
		f.Routes = append(f.Routes, Route{Member: w[0] == "member", Target: w[1], Source: ip(w[3]), OnLink: len(w) > 4})
	}
	return f
}

func parseCard(t *testing.T, name string, words []string) Card {
	c := Card{Name: name, Up: true}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "down":
			c.Up = false
		case "nolink":
			c.NoLink = true
		case "gateway":
			c.Gateway = ip(value)
		case "source":
			c.Source = ip(value)
		default:
			parts := strings.Split(w, ",")
			a := Addr{Prefix: netip.MustParsePrefix(parts[0])}
			for _, p := range parts[1:] {
				switch p {
				case "deprecated":
					a.Deprecated = true
				case "secondary":
					a.Secondary = true
				case "skip":
					a.Skip = true
				default:
					t.Fatalf("unknown word %q", p)
				}
			}
			c.Addrs = append(c.Addrs, a)
		}
	}
	return c
}

func TestFacts_StringCanBeReadBack(t *testing.T) {
	const text = `card "lo" 127.0.0.1/8
card "Local Area Connection 2" gateway=192.168.1.1 source=192.168.1.20 192.168.1.20/24 192.168.1.99/32,deprecated,secondary,skip
card "Wi-Fi" down 192.168.7.7/24
card "eth1" nolink 10.0.0.2/8
member 192.168.1.11 from 192.168.1.20 onlink
share 10.1.0.5 from 192.168.1.20
`
	require.Equal(t, text, parseFacts(t, text).String())
}
