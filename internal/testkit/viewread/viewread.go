// Package viewread reads relay_leader.json as a client program does: strictly,
// as one JSON object and nothing behind it. Tests compare what it returns with
// what was published.
package viewread

import (
	"encoding/json"
	"fmt"

	"github.com/convertfw/floatrelay/lease"
)

// Parse returns the view in b.
func Parse(b []byte) (lease.View, error) {
	var f struct {
		KMSN, Station, IP string
		Port, PID, V      int
		Epoch, Rev        uint64
		LeaseUntil        string `json:"lease_until"`
		Share, Node, Run  string
		State             lease.State
		Ready             bool
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return lease.View{}, fmt.Errorf("read the view %q: %w", b, err)
	}
	return lease.View{
		KMSN: f.KMSN, Station: f.Station, IP: f.IP, Port: f.Port, PID: f.PID, Epoch: f.Epoch, LeaseUntil: f.LeaseUntil,
		Rev: f.Rev, Share: f.Share, Owner: lease.ID{Node: f.Node, Run: f.Run}, State: f.State, Ready: f.Ready, V: f.V,
	}, nil
}
