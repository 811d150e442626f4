package gossip

import (
	"encoding/json"
	"fmt"

	"github.com/convertfw/floatrelay/lease"
)

// The two messages of a probe share the first bytes of the others (see
// message.go) and carry JSON, to which later versions may add:
//
//	version(1) type(1) len(1) node len(1) run json
//
// Builds that do not know these types ignore them.
const (
	typeAsk    = 100
	typeAnswer = 101

	maxProbe = 1000 // bytes of JSON
)

// The ways a message of a probe travels.
const (
	byUDP = "udp"
	byTCP = "tcp"
)

// probeMessage is a question or its answer. Both name the way they travel,
// since the receiver cannot tell.
type probeMessage struct {
	Type byte     `json:"-"`
	From lease.ID `json:"-"`

	Q     string `json:"q"`            // names the question
	By    string `json:"by"`           // how this message travels
	Again bool   `json:"a,omitempty"`  // the question was sent before
	Race  string `json:"r,omitempty"`  // a question that asks to race under this name
	Of    string `json:"of,omitempty"` // an answer: how its question travelled
	Says
}

// proof reports whether one packet answers the question.
func (m probeMessage) proof() bool { return m.Again && m.By == byUDP && m.Race == "" }

// Says is what a member tells of itself in an answer.
type Says struct {
	Station string `json:"s,omitempty"`
	Share   string `json:"h,omitempty"` // share id, empty while it has none
	Version string `json:"v,omitempty"`
	WallMS  int64  `json:"w,omitempty"`  // its wall clock, Unix milliseconds
	Zone    string `json:"zn,omitempty"` // abbreviation of its time zone
	ZoneSec int    `json:"z,omitempty"`  // seconds east of UTC
	Won     string `json:"won,omitempty"`
	Refused string `json:"no,omitempty"` // why it did not race
}

func (m probeMessage) encode() ([]byte, error) {
	if err := checkID(m.From); err != nil {
		return nil, fmt.Errorf("encode probe: %w", err)
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode probe: %w", err)
	}
	if len(body) > maxProbe {
		return nil, fmt.Errorf("encode probe: %d bytes are above %d", len(body), maxProbe)
	}
	return append(appendID([]byte{wireVersion, m.Type}, m.From), body...), nil
}

// isProbe reports whether a message is one of ours, of any version.
func isProbe(b []byte) bool {
	return len(b) >= 2 && b[0] == wireVersion && (b[1] == typeAsk || b[1] == typeAnswer)
}

// decodeProbe reads what encode wrote. It keeps nothing of b.
func decodeProbe(b []byte) (m probeMessage, err error) {
	if !isProbe(b) {
		return m, errFuture
	}
	r := reader{b: b[2:]}
	from := lease.ID{Node: r.text(maxNode), Run: r.text(maxRun)}
	if r.bad || checkID(from) != nil || len(r.b) > maxProbe {
		return m, errMalformed
	}
	if json.Unmarshal(r.b, &m) != nil || m.Q == "" || len(m.Q) > maxRun || m.By != byUDP && m.By != byTCP {
		return probeMessage{}, errMalformed
	}
	m.Type, m.From = b[1], from
	m.Station, m.Share, m.Version = clean(m.Station, MaxMeta), clean(m.Share, maxMetaShare), clean(m.Version, maxMetaShare)
	m.Zone, m.Won, m.Refused = clean(m.Zone, maxMetaWord), clean(m.Won, maxMetaShare), clean(m.Refused, MaxMeta)
	return m, nil
}
