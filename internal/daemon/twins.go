package daemon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/lease"
)

// twins says of each member that is up which others have its STATION. Runs of
// one node are none: that is a restart, or a clone, which is said elsewhere.
func twins(rows []gossip.Row) map[lease.ID]string {
	at := map[lease.ID][]string{}
	for _, a := range rows {
		for _, b := range rows {
			if a.Up() && b.Up() && a.ID.Node != b.ID.Node && a.Meta.Station != "" && strings.EqualFold(a.Meta.Station, b.Meta.Station) {
				at[a.ID] = append(at[a.ID], b.Addr.String())
			}
		}
	}
	notes := map[lease.ID]string{}
	for id, addrs := range at {
		slices.Sort(addrs)
		notes[id] = fmt.Sprintf("STATION is also that of %s: give each PC another", strings.Join(addrs, ", "))
	}
	return notes
}

// sayTwins says once of each STATION that it is used more than once. Only
// keepTable calls it.
func (d *Daemon) sayTwins(rows []gossip.Row) {
	notes, said := twins(rows), map[string]bool{}
	places := map[string][]string{}
	for _, r := range rows {
		if notes[r.ID] != "" && r.Up() {
			key := strings.ToUpper(r.Meta.Station)
			places[key] = append(places[key], r.Addr.String())
		}
	}
	for station, addrs := range places {
		slices.Sort(addrs)
		text := fmt.Sprintf("STATION %s is used by more than one PC (%s): give each another", station, strings.Join(addrs, ", "))
		said[text] = true
		if !d.twinsSaid[text] {
			d.report(true, text)
		}
	}
	d.twinsSaid = said
}
