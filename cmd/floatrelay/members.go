package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/reason"
)

func newMembersCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "members",
		Short: "List the PCs of this site, those that are off included",
		Args:  noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			c, err := a.reader(cmd)
			if err != nil {
				return err
			}
			m, err := c.Members(cmd.Context())
			if err != nil {
				return err
			}
			sortMembers(m)
			if a.json {
				return a.printJSON(m)
			}
			return a.print(a.membersTable(m))
		}),
	}
}

// sortMembers puts the leader first, then goes by station.
func sortMembers(m localapi.Members) {
	slices.SortStableFunc(m.Members, func(x, y localapi.Member) int {
		return cmp.Or(
			compareTrueFirst(leads(m, x), leads(m, y)),
			cmp.Compare(x.Station, y.Station),
			cmp.Compare(x.ID, y.ID),
		)
	})
}

func leads(m localapi.Members, x localapi.Member) bool { return m.Leader != "" && x.ID == m.Leader }

func compareTrueFirst(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

func (a *app) membersTable(m localapi.Members) string {
	rows := [][]string{{"STATION", "ADDRESS", "STATE", "ROLE", "EPOCH", "PRIO", "SHARE", "RTT", "VERSION", "NOTE"}}
	for _, x := range m.Members {
		rows = append(rows, append(memberRow(m, x), a.memberNote(m, x)))
	}
	return table(rows)
}

func memberRow(m localapi.Members, x localapi.Member) []string {
	role, epoch, prio := x.Role, strconv.FormatUint(x.Epoch, 10), strconv.Itoa(x.Priority)
	if x.Off() {
		role = "" // what it was says nothing about what it is
		if x.Priority == 0 {
			prio = "" // remembered from an earlier run, which keeps the address only
		}
	}
	if x.Epoch == 0 {
		epoch = ""
	}
	return []string{
		orDash(x.Station), orDash(x.Addr), orDash(x.State), orDash(role), orDash(epoch),
		orDash(prio), orDash(shortShare(x.Share)), orDash(rtt(m, x)), orDash(x.Version),
	}
}

func (a *app) memberNote(m localapi.Members, x localapi.Member) string {
	note := clean(a.says(x.Reasons, x.Note))
	switch {
	case x.ID != m.Self:
		return note
	case note == "":
		return "this PC"
	}
	return "this PC; " + note
}

// says are reasons in the language of whoever runs the command; a daemon of an
// earlier version sends its text only.
func (a *app) says(why []reason.Reason, text string) string {
	if len(why) == 0 {
		return text
	}
	return a.lang.All(why)
}

// rtt is empty where there is nothing to measure: this PC, one that is off,
// one not measured yet.
func rtt(m localapi.Members, x localapi.Member) string {
	switch {
	case x.RTT <= 0 || x.Off() || x.ID == m.Self:
		return ""
	case x.RTT < 10:
		return fmt.Sprintf("%.1fms", x.RTT)
	}
	return fmt.Sprintf("%.0fms", x.RTT)
}

// shortShare is enough of a share id to see whether two PCs use the same one.
func shortShare(id string) string {
	head, _, _ := strings.Cut(id, "-")
	return head
}
