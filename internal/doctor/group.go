package doctor

import (
	"fmt"
	"strings"
)

// mostNamed is how many PCs one line names; a site can have 200.
const mostNamed = 8

// groups tells a finding that several PCs have in one line, in the order the
// findings were first made.
type groups struct {
	order []finding
	who   map[finding][]string
}

// finding has a %s in its text where the PCs are named.
type finding struct {
	level    Level
	text, do string
}

func (g *groups) add(f finding, who string) {
	if g.who == nil {
		g.who = map[finding][]string{}
	}
	if g.who[f] == nil {
		g.order = append(g.order, f)
	}
	g.who[f] = append(g.who[f], who)
}

func (g *groups) tell(tell Tell) {
	for _, f := range g.order {
		tell.add(f.level, fmt.Sprintf(f.text, names(g.who[f])), f.do)
	}
}

func names(all []string) string {
	text := strings.Join(all[:min(len(all), mostNamed)], ", ")
	if more := len(all) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
