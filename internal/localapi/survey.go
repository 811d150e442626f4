package localapi

import (
	"context"
	"net/http"
)

// Survey is what the daemon found out by asking the members, for the doctor.
type Survey struct {
	Self    string     `json:"self"` // id of this member
	KMSN    string     `json:"kmsn"`
	Station string     `json:"station"`
	Share   string     `json:"share"` // share id, empty while there is none
	Version string     `json:"version"`
	Members []Surveyed `json:"members"` // the others; those that are off are not asked
	Race    *Race      `json:"race,omitempty"`
	// Strangers sent something that is not for this site, lately.
	Strangers []Stranger `json:"strangers"`
}

// Surveyed is one other member.
type Surveyed struct {
	ID      string `json:"id"`
	Station string `json:"station"`
	Addr    string `json:"addr"`
	State   string `json:"state"`
	Share   string `json:"share"`
	Version string `json:"version"`

	Asked    bool `json:"asked"` // false: off, or there was no time for it
	Answered bool `json:"answered"`
	UDPOut   bool `json:"udp_out"` // packets of this PC reach it
	UDPBack  bool `json:"udp_back"`
	TCPOut   bool `json:"tcp_out"` // connections of this PC reach it
	TCPBack  bool `json:"tcp_back"`

	SkewMS  int64   `json:"skew_ms"` // its wall clock minus ours, exact to rtt_ms/2
	RTT     float64 `json:"rtt_ms"`
	Zone    string  `json:"zone"`
	ZoneSec int     `json:"zone_s"` // east of UTC
}

// Race is how two PCs raced to create the same new files.
type Race struct {
	With   string `json:"with"`   // station
	Rounds int    `json:"rounds"` // that can be judged
	Both   int    `json:"both"`   // rounds that both won: two PCs could both lead
	None   int    `json:"none"`   // rounds that nobody won
	Error  string `json:"error"`  // why there was no race
}

// Stranger is an address that sent what is not for this site.
type Stranger struct {
	Addr string `json:"addr"`
	Code string `json:"code"` // TokenDiffers or OtherSite
	Why  string `json:"why"`  // the same in words
}

// The codes of a Stranger.
const (
	TokenDiffers = "token-differs"
	OtherSite    = "other-site"
)

// Surveyor is a Source that can ask the members. One survey runs at a time; it
// must end within the ten seconds a changing request has.
type Surveyor interface {
	Survey(ctx context.Context) (Survey, error)
}

func (s *Server) survey(w http.ResponseWriter, r *http.Request) {
	sv, ok := s.src.(Surveyor)
	if !ok {
		fail(w, http.StatusNotFound, "this daemon asks nobody")
		return
	}
	found, err := sv.Survey(r.Context())
	if err != nil {
		fail(w, http.StatusConflict, err.Error())
		return
	}
	if found.Members == nil {
		found.Members = []Surveyed{}
	}
	if found.Strangers == nil {
		found.Strangers = []Stranger{}
	}
	answer(w, found)
}

// Survey has the daemon ask all members. It sends to them and writes to the
// share, so it needs the bearer.
func (c *Client) Survey(ctx context.Context) (Survey, error) {
	var out Survey
	err := c.postInto(ctx, "/v1/survey", nil, &out)
	return out, err
}
