package localapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

func (s *Server) members(w http.ResponseWriter, _ *http.Request) {
	m := s.src.Members()
	if m.Members == nil {
		m.Members = []Member{} // readers expect a list, not null
	}
	answer(w, m)
}

func (s *Server) leader(w http.ResponseWriter, _ *http.Request) {
	l, ok := s.src.Leader()
	if !ok {
		fail(w, http.StatusNotFound, "nobody leads at present")
		return
	}
	answer(w, l)
}

func (s *Server) status(w http.ResponseWriter, _ *http.Request) { answer(w, s.src.Status()) }

// healthz says that the daemon's loop answers, nothing more: a client or an
// ineligible member is healthy too.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	answer(w, struct {
		OK   bool   `json:"ok"`
		Role string `json:"role"`
	}{true, s.src.Status().Role})
}

// handoffJSON is the body of POST /v1/handoff; an empty body means {}.
type handoffJSON struct {
	To string `json:"to"`
}

func (s *Server) handoff(w http.ResponseWriter, r *http.Request) {
	var req handoffJSON
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil && !errors.Is(err, io.EOF) {
		fail(w, http.StatusBadRequest, `cannot read the body, want {"to":"STATION"} or nothing: `+err.Error())
		return
	}
	if dec.More() {
		fail(w, http.StatusBadRequest, "more than one object in the body")
		return
	}
	s.changed(w, s.src.Handoff(r.Context(), req.To))
}

func (s *Server) drain(on bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.changed(w, s.src.Drain(r.Context(), on))
	}
}

// changed tells of a refusal as a conflict: the request was fine, the present
// state does not allow it.
func (s *Server) changed(w http.ResponseWriter, err error) {
	if err != nil {
		fail(w, http.StatusConflict, err.Error())
		return
	}
	answer(w, struct {
		OK bool `json:"ok"`
	}{true})
}

// watch sends one event per line, beginning with what holds now.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) {
	places := s.watchers
	if ok, _ := s.authorized(r); ok {
		places = s.proven
		keep(r.Context())
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	default:
		fail(w, http.StatusServiceUnavailable, "too many watchers")
		return
	}
	events, cancel := s.src.Subscribe()
	defer cancel()
	w.Header().Set("Content-Type", "application/x-ndjson")
	if send(w, s.present()) != nil {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case ev, open := <-events:
			if !open || send(w, ev) != nil {
				return
			}
		}
	}
}

func (s *Server) present() Event {
	st := s.src.Status()
	text := "this PC is " + st.Role
	if l, ok := s.src.Leader(); ok {
		text += ", " + l.Station + " leads"
	} else {
		text += ", nobody leads"
	}
	return Event{Time: time.Now(), Kind: "now", Text: text, Role: st.Role, Epoch: st.Epoch, Rev: st.Rev}
}

// send writes one line within watchWrite. It replaces the deadlines of the
// server, which would end a watch after seconds.
func send(w http.ResponseWriter, ev Event) error {
	b, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	rc := http.NewResponseController(w)
	if err := rc.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	if err := rc.SetWriteDeadline(time.Now().Add(watchWrite)); err != nil {
		return err
	}
	if _, err := w.Write(append(b, '\n')); err != nil {
		return err
	}
	return rc.Flush()
}
