package daemon

import (
	"slices"
	"strings"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// twins says of each member that is up which others have its STATION. Runs of
// one node are none: that is a restart, or a clone, which is said elsewhere.
func twins(rows []gossip.Row) map[lease.ID][]reason.Reason {
	at := map[lease.ID][]string{}
	for _, a := range rows {
		for _, b := range rows {
			if a.Up() && b.Up() && a.ID.Node != b.ID.Node && a.Meta.Station != "" && strings.EqualFold(a.Meta.Station, b.Meta.Station) {
				at[a.ID] = append(at[a.ID], b.Addr.String())
			}
		}
	}
	notes := map[lease.ID][]reason.Reason{}
	for id, addrs := range at {
		slices.Sort(addrs)
		notes[id] = []reason.Reason{{Code: reason.StationTwice, Detail: strings.Join(addrs, ", ")}}
	}
	return notes
}

// sayTwins says once of each STATION that it is used more than once. Only
// keepTable calls it.
func (d *Daemon) sayTwins(rows []gossip.Row) {
	notes, said := twins(rows), map[reason.Reason]bool{}
	places := map[string][]string{}
	for _, r := range rows {
		if notes[r.ID] != nil && r.Up() {
			key := strings.ToUpper(r.Meta.Station)
			places[key] = append(places[key], r.Addr.String())
		}
	}
	for station, addrs := range places {
		slices.Sort(addrs)
		text := reason.Reason{Code: reason.StationConflict, Station: station, Detail: strings.Join(addrs, ", ")}
		said[text] = true
		if !d.twinsSaid[text] {
			d.tell(true, text)
		}
	}
	d.twinsSaid = said
}
