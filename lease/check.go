package lease

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Bounds of a record's texts, in bytes as they stand in the record (see
// EscapedLen). Together they keep the largest record within MaxBody.
const (
	MaxKMSN    = 32
	MaxStation = 64
	MaxReason  = 32
	maxNode    = 36 // a UUID
	maxRun     = 12
	maxBoot    = 32
	maxPID     = 1<<32 - 1
	maxPort    = 65534 // RELAY_PORT+1 belongs to the relay too
)

// untilLayout is lease_until: local time, as Harbour's readers expect it.
const untilLayout = "20060102150405"

// The years that a lease_until may have.
const untilFirst, untilLast = 2000, 9999

// CheckStation says why a STATION code cannot stand in a record, or nil.
func CheckStation(station string) error { return checkName("STATION", station, MaxStation) }

// checkName bounds a name people chose.
func checkName(key, s string, limit int) error {
	switch n := EscapedLen(s); {
	case s == "":
		return fmt.Errorf("lease: %s is empty", key)
	case !printable(s):
		return fmt.Errorf("lease: %s %q contains a control character or broken text", key, s)
	case n > limit:
		return fmt.Errorf("lease: %s %q takes %d bytes in a record, at most %d fit (6 per Chinese character)", key, s, n, limit)
	}
	return nil
}

// check returns the first value outside the format's bounds.
func (r Record) check() error {
	if err := r.checkNames(); err != nil {
		return err
	}
	if err := r.checkFigures(); err != nil {
		return err
	}
	return r.checkIDs()
}

func (r Record) checkNames() error {
	if err := checkName("KMSN", r.KMSN, MaxKMSN); err != nil {
		return err
	}
	if err := CheckStation(r.Station); err != nil {
		return err
	}
	switch {
	case r.State != Held && r.State != Released:
		return fmt.Errorf("state %q is neither held nor released", r.State)
	case !printable(r.Reason) || EscapedLen(r.Reason) > MaxReason:
		return fmt.Errorf("reason %q is too long or broken", r.Reason)
	case !relayIP(r.IP):
		return fmt.Errorf("ip %q is not an IPv4 address clients can reach", r.IP)
	case !goodUntil(r.LeaseUntil):
		return fmt.Errorf("lease_until %q is not a time YYYYMMDDHHMMSS", r.LeaseUntil)
	}
	return nil
}

func (r Record) checkFigures() error {
	switch {
	case r.Rev < 1 || r.Rev > MaxRev:
		return fmt.Errorf("rev %d is outside 1 to %d", r.Rev, uint64(MaxRev))
	case r.Epoch > MaxRev:
		return fmt.Errorf("epoch %d is above %d", r.Epoch, uint64(MaxRev))
	case r.Port < 1 || r.Port > maxPort:
		return fmt.Errorf("port %d is outside 1 to %d", r.Port, maxPort)
	case r.PID < 0 || uint64(r.PID) > maxPID:
		return fmt.Errorf("pid %d is outside 0 to %d", r.PID, uint64(maxPID))
	case r.TTL < time.Millisecond || r.TTL > TTLMax:
		return fmt.Errorf("ttl %v is outside 1ms to %v", r.TTL, TTLMax)
	case r.Fence < time.Millisecond || r.Fence > r.TTL:
		return fmt.Errorf("fence %v is outside 1ms to the ttl %v", r.Fence, r.TTL)
	}
	return nil
}

func (r Record) checkIDs() error {
	switch {
	case !token(r.Share, maxNode):
		return fmt.Errorf("share id %q is not 1 to %d letters, digits or dashes", r.Share, maxNode)
	case !r.Owner.wellFormed():
		return fmt.Errorf("owner %q is not a node and a run", r.Owner)
	case r.Boot != "" && !token(r.Boot, maxBoot):
		return fmt.Errorf("boot %q is not at most %d letters or digits", r.Boot, maxBoot)
	case !r.Successor.IsZero() && !r.Successor.wellFormed():
		return fmt.Errorf("successor %q is not a node and a run", r.Successor)
	case len(r.Roster) > RosterMax:
		return fmt.Errorf("roster has %d members, at most %d fit", len(r.Roster), RosterMax)
	}
	for i, m := range r.Roster {
		if !m.wellFormed() {
			return fmt.Errorf("roster member %q is not a node and a run", m)
		}
		for _, o := range r.Roster[:i] {
			if m == o {
				return fmt.Errorf("roster member %q is listed twice", m)
			}
		}
	}
	return nil
}

// wellFormed reports whether both halves can stand in a record.
func (id ID) wellFormed() bool { return token(id.Node, maxNode) && token(id.Run, maxRun) }

// token reports whether s is 1 to limit ASCII letters, digits or dashes.
func token(s string, limit int) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		ok := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-'
		if !ok {
			return false
		}
	}
	return s != "" && len(s) <= limit
}

// idText is the form of an ID in records, empty for nobody.
func idText(id ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

func idTexts(ids []ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = idText(id)
	}
	return out
}

// parseID reads the form idText writes.
func parseID(s string) (ID, bool) {
	node, run, ok := strings.Cut(s, "/")
	id := ID{Node: node, Run: run}
	return id, ok && id.wellFormed()
}

// relayIP reports whether s is an IPv4 address in its usual spelling that a
// client could connect to. Loopback passes: whether it is wanted (the demo) is
// a matter of configuration.
func relayIP(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4() && !a.IsUnspecified() && !a.IsMulticast()
}

// goodUntil reports whether s is a real date and time of fourteen digits, not
// before the year 2000.
func goodUntil(s string) bool {
	if len(s) != len(untilLayout) || !allDigits(s) {
		return false
	}
	t, err := time.Parse(untilLayout, s)
	return err == nil && t.Year() >= untilFirst
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
