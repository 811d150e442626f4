package daemon

import (
	"sort"
	"strings"
	"sync"

	"github.com/convertfw/floatrelay/arbiter"
)

// notes collects the reasons outside the arbiter why this member may not lead.
type notes struct {
	post func(arbiter.Event)

	mu   sync.Mutex
	why  map[string]string
	told string
}

// set gives or, with an empty text, withdraws the reason called key.
func (n *notes) set(key, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.why == nil {
		n.why = map[string]string{}
	}
	if text == "" {
		delete(n.why, key)
	} else {
		n.why[key] = text
	}
	all := make([]string, 0, len(n.why))
	for _, t := range n.why {
		all = append(all, t)
	}
	sort.Strings(all)
	if joined := strings.Join(all, "; "); joined != n.told {
		n.told = joined
		n.post(arbiter.Eligibility{Note: joined})
	}
}
