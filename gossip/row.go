package gossip

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// State is what this member believes of another one.
type State uint8

// The states. Suspect members still count as alive for the protocol.
const (
	Dead    State = iota // silent, unproven, or remembered from an earlier run
	Left                 // said goodbye
	Suspect              // did not answer our last probe
	Alive
)

// String returns the state's lower-case name, as shown to users.
func (s State) String() string {
	return [...]string{"dead", "left", "suspect", "alive"}[s]
}

// Row is one line of the member table.
type Row struct {
	ID   lease.ID
	Self bool
	Addr netip.AddrPort // advertised address and gossip port
	// State is this member's view; Alive for Self.
	State State
	Meta  Meta
	// LastSeen is the wall time of the last sign of life; for a member that is
	// off, when it was last known alive. For people only.
	LastSeen time.Time
	// RTT is the last measured round trip, zero if none yet.
	RTT time.Duration

	gen uint64 // the memberlist that saw it last
	// claimed: memberlist believes in this run, but it has not answered us yet,
	// and State does not say that it is alive.
	claimed bool
}

// Up reports whether the member is believed alive, suspect or not.
func (r Row) Up() bool { return r.State == Alive || r.State == Suspect }

// memory is the form in which rows are remembered in STATE_DIR. Later versions
// may add fields.
type memory struct {
	Node    string    `json:"node"`
	Run     string    `json:"run"`
	Addr    string    `json:"addr"`
	Station string    `json:"station"`
	Seen    time.Time `json:"seen"`
}

// EncodeRows returns what is worth remembering of the other members, as JSON.
func EncodeRows(rows []Row) ([]byte, error) {
	ms := []memory{}
	for _, r := range rows {
		if !r.Self && r.Addr.IsValid() {
			ms = append(ms, memory{r.ID.Node, r.ID.Run, r.Addr.String(), r.Meta.Station, r.LastSeen.UTC().Truncate(time.Second)})
		}
	}
	b, err := json.Marshal(ms)
	if err != nil {
		return nil, fmt.Errorf("encode remembered members: %w", err)
	}
	return b, nil
}

// DecodeRows reads EncodeRows' form. Entries that make no sense are skipped;
// an error means that nothing could be read.
func DecodeRows(b []byte) ([]Row, error) {
	var ms []memory
	if err := json.Unmarshal(b, &ms); err != nil {
		return nil, fmt.Errorf("decode remembered members: %w", err)
	}
	var rows []Row
	for _, m := range ms {
		id := lease.ID{Node: m.Node, Run: m.Run}
		addr, err := netip.ParseAddrPort(m.Addr)
		if err != nil || checkID(id) != nil {
			continue
		}
		rows = append(rows, Row{ID: id, Addr: addr, Meta: Meta{Station: clean(m.Station, MaxMeta)}, LastSeen: m.Seen})
	}
	return rows, nil
}
