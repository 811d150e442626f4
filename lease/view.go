package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ViewName is the file, in LEASE_DIR, that tells clients where the relay is.
const ViewName = "relay_leader.json"

// View is what relay_leader.json says. It follows the chain and decides
// nothing.
type View struct {
	// The agreed fields, which every version of every program knows.
	KMSN       string
	Station    string
	IP         string
	Port       int
	PID        int // of the relay; 0 while unknown
	Epoch      uint64
	LeaseUntil string // local time YYYYMMDDHHMMSS

	// Ours; zero if another program wrote the file.
	Rev   uint64
	Share string
	Owner ID
	State State
	Ready bool // the relay accepts connections
	V     int
}

// viewFields are the names in the file, in the order in which they are written.
var viewFields = []string{
	"kmsn", "station", "ip", "port", "pid", "epoch", "lease_until",
	"rev", "share", "node", "run", "state", "ready", "v",
}

// View returns what clients are told of a record: pid is the relay's, 0 while
// unknown. LeaseUntil is stamped as Seal does if the record has none.
func (c *Codec) View(r Record, ready bool, pid int) View {
	return View{
		KMSN: r.KMSN, Station: r.Station, IP: r.IP, Port: r.Port, PID: pid,
		Epoch: r.Epoch, LeaseUntil: c.leaseUntil(r), Rev: r.Rev, Share: r.Share,
		Owner: r.Owner, State: r.State, Ready: ready, V: Version,
	}
}

// Encode returns the file's content: one line of ASCII JSON, the agreed fields
// first, plain digits, no byte order mark, nothing escaped for HTML.
func (v View) Encode() []byte {
	var o object
	o.text("kmsn", v.KMSN)
	o.text("station", v.Station)
	o.text("ip", v.IP)
	o.uint("port", uint64(v.Port))
	o.uint("pid", uint64(v.PID))
	o.uint("epoch", v.Epoch)
	o.text("lease_until", v.LeaseUntil)
	o.uint("rev", v.Rev)
	o.text("share", v.Share)
	o.text("node", v.Owner.Node)
	o.text("run", v.Owner.Run)
	o.text("state", string(v.State))
	o.bool("ready", v.Ready)
	o.uint("v", uint64(v.V))
	return append(o.b, '}', '\n')
}

// ParseView reads relay_leader.json as it may really be, including what Harbour
// programs, Notepad and PowerShell make of it. Whatever has one meaning only is
// accepted, oddities are named in warnings. Anything else is an error, and the
// view is then empty, never half filled.
func ParseView(b []byte) (v View, warnings []string, err error) {
	f, warnings, err := scanLoose(b, viewFields)
	if err != nil {
		return View{}, nil, fmt.Errorf("read %s: %w", ViewName, err)
	}
	rd := &reader{f: f}
	v = View{
		KMSN:       rd.printed("kmsn", 256),
		Station:    rd.printed("station", 256),
		IP:         rd.printed("ip", 15),
		Port:       int(rd.loose("port", 1, 65535)),
		PID:        int(rd.loose("pid", 0, maxPID)),
		Epoch:      rd.loose("epoch", 0, MaxRev),
		LeaseUntil: rd.until("lease_until"),
	}
	rd.agreed(v)
	rd.ours(&v)
	if rd.err != nil {
		return View{}, nil, fmt.Errorf("read %s: %w", ViewName, rd.err)
	}
	if v.V > Version {
		warnings = append(warnings, fmt.Sprintf("written by a newer version (%d, this build knows %d)", v.V, Version))
	}
	return v, warnings, nil
}

// agreed refuses values no relay can have.
func (r *reader) agreed(v View) {
	if r.err == nil && strings.TrimSpace(v.KMSN) == "" {
		r.fail("kmsn", "is empty")
	}
	if r.err == nil && !relayIP(v.IP) {
		r.fail("ip", "is %q, not an IPv4 address", v.IP)
	}
}

// ours reads the fields other writers do not know. One that is there must be
// right.
func (r *reader) ours(v *View) {
	if r.has("rev") {
		v.Rev = r.loose("rev", 0, MaxRev)
	}
	if r.has("share") {
		v.Share = r.printed("share", maxNode)
	}
	if r.has("node") {
		v.Owner.Node = r.printed("node", maxNode)
	}
	if r.has("run") {
		v.Owner.Run = r.printed("run", maxRun)
	}
	if r.has("state") {
		v.State = State(r.printed("state", len(Released)))
		if v.State != Held && v.State != Released && v.State != "" {
			r.fail("state", "is %q", v.State)
		}
	}
	if r.has("ready") {
		v.Ready = r.yes("ready")
	}
	if r.has("v") {
		v.V = int(r.loose("v", 0, 1<<16))
	}
}

func (r *reader) yes(name string) bool {
	raw, _ := r.raw(name)
	if raw != "true" && raw != "false" {
		r.fail(name, "is neither true nor false")
	}
	return raw == "true"
}

// until reads a local time of 14 digits, as text or number; of 17 digits (with
// milliseconds) the last three are dropped.
func (r *reader) until(name string) string {
	raw, ok := r.raw(name)
	if !ok {
		return ""
	}
	s := raw
	if raw[0] == '"' {
		s = r.text(name)
	} else if s, ok = r.number(name); !ok {
		return ""
	}
	if len(s) == len(untilLayout)+3 && allDigits(s) {
		s = s[:len(untilLayout)]
	}
	if !goodUntil(s) {
		r.fail(name, "is %s, not a time YYYYMMDDHHMMSS", raw)
		return ""
	}
	return s
}

// Publish replaces relay_leader.json, so that every reader sees the old content
// or the new.
func (c *Chain) Publish(ctx context.Context, v View) error {
	if err := c.share.Replace(ctx, ViewName, v.Encode()); err != nil {
		if errors.Is(err, ErrExists) || errors.Is(err, ErrDenied) {
			if _, folder := c.share.List(ctx, ViewName); folder == nil {
				return fmt.Errorf("publish the view: %s in %s is a folder: remove that folder: %w", ViewName, c.share, err)
			}
		}
		return fmt.Errorf("publish the view: %w", err)
	}
	return nil
}

// ReadView returns what relay_leader.json says, with oddities in warnings. It
// fails with the share's errors, or with ParseView's.
func (c *Chain) ReadView(ctx context.Context) (v View, warnings []string, err error) {
	b, err := c.share.Read(ctx, ViewName)
	if err != nil {
		return View{}, nil, fmt.Errorf("read the view: %w", err)
	}
	return ParseView(b)
}
