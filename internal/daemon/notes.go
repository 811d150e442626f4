package daemon

import (
	"slices"
	"sync"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/reason"
)

// notes collects the reasons outside the arbiter why this member may not lead.
type notes struct {
	post func(arbiter.Event)

	mu   sync.Mutex
	why  map[string][]reason.Reason
	told []reason.Reason
}

// set gives or, without any, withdraws the reasons called key.
func (n *notes) set(key string, why ...reason.Reason) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.why == nil {
		n.why = map[string][]reason.Reason{}
	}
	n.why[key] = why
	var all []reason.Reason
	for _, key := range sortedKeys(n.why) {
		all = append(all, n.why[key]...)
	}
	if !slices.Equal(all, n.told) {
		n.told = all
		n.post(arbiter.Eligibility{Reasons: all})
	}
}
