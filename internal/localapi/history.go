package localapi

import (
	"context"
	"net/http"
)

// Past is an event as history keeps it: with what it took and why it happened,
// as far as that is known.
type Past struct {
	Event
	Reason string `json:"reason,omitempty"`
	// LastedMS is how long what ended here had lasted, in milliseconds; 0 if
	// nothing ended, or its begin is not known.
	LastedMS int64 `json:"lasted_ms,omitempty"`
}

// History is the answer of GET /v1/history, oldest first.
type History struct {
	Events []Past `json:"events"`
}

// Historian is a Source that remembers. It answers from memory.
type Historian interface {
	History() []Past
}

func (s *Server) history(w http.ResponseWriter, _ *http.Request) {
	h, ok := s.src.(Historian)
	if !ok {
		fail(w, http.StatusNotFound, "this daemon keeps no history")
		return
	}
	events := h.History()
	if events == nil {
		events = []Past{}
	}
	answer(w, History{events})
}

// History returns the daemon's events, oldest first.
func (c *Client) History(ctx context.Context) ([]Past, error) {
	var h History
	return h.Events, c.get(ctx, "/v1/history", &h)
}
