package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/localapi"
)

func newStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what this PC does and knows",
		Args:  noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			c, err := a.reader(cmd)
			if err != nil {
				return err
			}
			s, err := c.Status(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(s)
			}
			m, err := c.Members(cmd.Context())
			if err != nil {
				return err
			}
			l, _, err := c.Leader(cmd.Context())
			var refused *localapi.RefusedError
			if err != nil && !errors.As(err, &refused) {
				return err
			}
			return a.print(a.statusText(s, m, l))
		}),
	}
}

// statusText is for a console of 80 columns.
func (a *app) statusText(s localapi.Status, m localapi.Members, l localapi.Leader) string {
	rows := [][]string{
		{"This PC", selfLine(s, m)},
		{"Leader", leaderLine(l)},
		{"Relay", relayLine(s.Relay)},
	}
	if s.Relay.Failures > 0 {
		rows = append(rows, []string{"", failureLine(s.Relay)})
	}
	if s.Fence.By != "" {
		rows = append(rows, []string{"May run", fenceLine(s.Fence)})
	}
	rows = append(rows,
		[]string{"Share", clean(s.Share.Path)},
		[]string{"", shareLine(s.Share)},
		[]string{"", "id " + orDash(s.Share.ID)},
		[]string{"Members", gossipLine(s.Gossip, len(m.Members))},
		[]string{"Token", "fingerprint " + orDash(s.Token)},
	)
	if s.Clock != nil {
		rows = append(rows, []string{"Clock", clockLine(*s.Clock)})
	}
	if s.Forward != nil {
		rows = append(rows, []string{"Programs", forwardLine(*s.Forward)})
	}
	for _, row := range [][]string{{"Note", a.says(s.Reasons, s.Note)}, {"Do", a.lang.Cures(s.Reasons)}} {
		if row[1] != "" {
			rows = append(rows, []string{row[0], clean(row[1])})
		}
	}
	return table(rows)
}

func selfLine(s localapi.Status, m localapi.Members) string {
	station := "?"
	for _, x := range m.Members {
		if x.ID == m.Self {
			station = orDash(x.Station)
		}
	}
	text := fmt.Sprintf("%s of site %s: %s, epoch %d, record %d", station, orDash(m.KMSN), orDash(s.Role), s.Epoch, s.Rev)
	if !s.Eligible && s.Role != localapi.RoleIneligible {
		text += " (may not lead)"
	}
	return text
}

func leaderLine(l localapi.Leader) string {
	if l.IP == "" {
		return "nobody"
	}
	text := orDash(l.Station) + " at " + leaderAddr(l)
	if !l.Ready {
		text += ", relay not ready yet"
	}
	return text
}

func relayLine(r localapi.RelayStatus) string {
	if r.State == "none" || r.State == "" {
		return "not on this PC"
	}
	text := fmt.Sprintf("%s on this PC, pid %d", clean(r.State), r.PID)
	if since, err := time.Parse(time.RFC3339, r.Since); err == nil {
		text += " since " + since.Format(time.DateTime)
	}
	if r.Restarts > 0 {
		text += fmt.Sprintf(", restarted %s", times(r.Restarts))
	}
	return text
}

// failureLine says why the relay last ended by itself, and what follows.
func failureLine(r localapi.RelayStatus) string {
	text := fmt.Sprintf("failed %s in a row: %s", times(r.Failures), clean(r.LastEnd))
	if r.Failures == 1 {
		text = "failed: " + clean(r.LastEnd)
	}
	if next, err := time.Parse(time.RFC3339, r.NextTry); err == nil {
		text += "; next try at " + next.Format(time.TimeOnly)
	}
	return text
}

func fenceLine(f localapi.FenceStatus) string {
	by := map[string]string{
		"share":   "by the last record written",
		"vouches": "by the other members' vouches",
		"ttl":     "until the record runs out",
	}[f.By]
	if by == "" {
		by = "by " + clean(f.By)
	}
	return fmt.Sprintf("%s more, %s", milliseconds(f.LeftMS), by)
}

func shareLine(s localapi.ShareStatus) string {
	text := orDash(s.State)
	if s.LastOKMS < 0 {
		return text + ", never answered so far"
	}
	text += ", answered " + milliseconds(s.LastOKMS) + " ago"
	if s.CreateMS > 0 {
		text += fmt.Sprintf(", last record took %s", milliseconds(s.CreateMS))
	}
	return text
}

func gossipLine(g localapi.GossipStatus, known int) string {
	text := fmt.Sprintf("%d alive of %d known", g.Alive, known)
	if g.Health > 0 {
		text += fmt.Sprintf("; this PC answers late (%d)", g.Health)
	}
	return text
}

// forwardLine is for who wonders why a program does not reach the relay.
func forwardLine(f localapi.ForwardStatus) string {
	text := fmt.Sprintf("127.0.0.1:%d leads to %s: %d connected", f.Port, clean(f.To), f.Open)
	if f.To == "" {
		text = fmt.Sprintf("127.0.0.1:%d leads nowhere: nobody leads", f.Port)
	}
	if f.Held > 0 {
		text += fmt.Sprintf(", %d waiting", f.Held)
	}
	if f.Fallback > 0 {
		text += fmt.Sprintf(", %d on RELAY_HOST", f.Fallback)
	}
	if f.Problem != "" {
		text += "; " + clean(f.Problem)
	}
	return text
}

// clockSlack is how far the leader's clock may be off before it is mentioned.
const clockSlack = 5 * time.Second

// clockLine is for who compares logs, and for clients that read lease_until.
func clockLine(c localapi.ClockStatus) string {
	off := (time.Duration(c.SkewMS) * time.Millisecond).Abs()
	if off <= clockSlack {
		return "agrees with that of " + orDash(c.Station)
	}
	way := "ahead of"
	if c.SkewMS < 0 {
		way = "behind"
	}
	return fmt.Sprintf("%s (leading) is %s %s this PC, or in another time zone", orDash(c.Station), milliseconds(off.Milliseconds()), way)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// milliseconds shows a duration the way people say it.
func milliseconds(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case ms < 1000:
		return fmt.Sprintf("%d ms", ms)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d h", d/time.Hour)
}
