package lease

import (
	"context"
	"errors"
	"fmt"
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
