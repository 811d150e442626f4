package lease

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// recordFields are the names of a record, exactly as written.
var recordFields = []string{
	"v", "share", "kmsn", "station", "rev", "epoch", "node", "run", "boot",
	"state", "reason", "successor", "ip", "port", "pid", "ttl_ms", "fence_ms",
	"roster", "lease_until", "mac",
}

// Open says what is known of a body. share and rev are where it was found;
// empty and zero take them from the record (for beats). It never fails: a body
// that cannot be believed is Unknown, Foreign or Newer, with the flaw that it
// has. Only Valid entries carry a Record.
//
// Newer is told of verified bytes only: anything else that claims to be newer is
// Unknown, as a damaged record. Foreign is told from unsigned bytes, since the
// key of another site is not ours, and proves nothing.
func (c *Codec) Open(share string, rev uint64, body []byte) Entry {
	e := Entry{Rev: rev, Kind: Unknown, Body: body}
	r, v, err := decodeRecord(body)
	switch {
	case err != nil:
		e.Flaw, e.Cause = Damaged, err.Error()
		if len(body) == 0 {
			e.Flaw = Empty
		}
	case v > Version && !c.verify(body):
		e.Flaw = Damaged
		e.Cause = fmt.Sprintf("version %d, this build reads %d, and not signed with our RELAY_TOKEN", v, Version)
	case v > Version:
		e.Kind, e.Flaw, e.Named = Newer, NewerFormat, strconv.FormatUint(v, 10)
		e.Cause = fmt.Sprintf("version %d, this build reads %d", v, Version)
	case r.KMSN != c.kmsn:
		e.Kind, e.Flaw, e.Named = Foreign, OtherSite, r.KMSN
		e.Cause = fmt.Sprintf("KMSN is %s, ours is %s", r.KMSN, c.kmsn)
	case !c.verify(body):
		e.Flaw, e.Named = OtherToken, r.Station
		e.Cause = "wrong MAC"
	case share != "" && r.Share != share:
		e.Flaw = Misplaced
		e.Cause = fmt.Sprintf("it belongs to share %s, found on %s", r.Share, share)
	case rev != 0 && r.Rev != rev:
		e.Flaw = Misplaced
		e.Cause = fmt.Sprintf("it says rev %d, found as %d", r.Rev, rev)
	default:
		e.Kind, e.Rev, e.Record = Valid, r.Rev, r
	}
	return e
}

// WrongToken reports whether the body looks like a record that another token
// signed, as opposed to a damaged one.
func (e Entry) WrongToken() bool { return e.Flaw == OtherToken }

// decodeRecord reads a body without verifying it. With a v above Version the
// record is empty: only its version is known.
func decodeRecord(body []byte) (r Record, v uint64, err error) {
	if err := checkBody(body); err != nil {
		return Record{}, 0, err
	}
	f, rest, err := scanObject(body, recordFields)
	if err != nil {
		return Record{}, 0, err
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return Record{}, 0, errors.New("something follows the record")
	}
	rd := &reader{f: f}
	v = rd.digits("v", 1, 1<<16)
	if rd.err != nil || v > Version {
		return Record{}, v, rd.err
	}
	r = readRecord(rd)
	if rd.err != nil {
		return Record{}, v, rd.err
	}
	if err := r.check(); err != nil {
		return Record{}, v, err
	}
	if _, _, ok := signed(body); !ok {
		return Record{}, v, errors.New("it does not end in a MAC")
	}
	return r, v, nil
}

// checkBody names the usual kinds of damage before JSON's own words would.
func checkBody(body []byte) error {
	switch {
	case len(body) == 0:
		return errors.New("empty")
	case len(bytes.Trim(body, "\x00")) == 0:
		return errors.New("only NUL bytes, as after a power loss")
	case len(body) > MaxBody:
		return fmt.Errorf("%d bytes, a record has at most %d", len(body), MaxBody)
	case body[0] != '{':
		return errors.New("it does not begin like a record")
	}
	for _, ch := range body {
		if ch >= 0x80 || ch < 0x20 && ch != '\n' {
			return fmt.Errorf("byte 0x%02x does not belong in a record", ch)
		}
	}
	return nil
}

func readRecord(rd *reader) Record {
	r := Record{
		Share:      rd.text("share"),
		KMSN:       rd.text("kmsn"),
		Station:    rd.text("station"),
		Rev:        rd.digits("rev", 1, MaxRev),
		Epoch:      rd.digits("epoch", 0, MaxRev),
		Owner:      ID{Node: rd.text("node"), Run: rd.text("run")},
		Boot:       rd.text("boot"),
		State:      State(rd.text("state")),
		Reason:     rd.text("reason"),
		IP:         rd.text("ip"),
		Port:       int(rd.digits("port", 1, maxPort)),
		PID:        int(rd.digits("pid", 0, maxPID)),
		TTL:        readMS(rd, "ttl_ms"),
		Fence:      readMS(rd, "fence_ms"),
		LeaseUntil: rd.text("lease_until"),
	}
	if s := rd.text("successor"); s != "" {
		r.Successor = readID(rd, "successor", s)
	}
	for _, s := range rd.texts("roster") {
		r.Roster = append(r.Roster, readID(rd, "roster", s))
	}
	rd.text("mac")
	return r
}

func readMS(rd *reader, name string) time.Duration {
	return time.Duration(rd.digits(name, 1, uint64(TTLMax/time.Millisecond))) * time.Millisecond
}

func readID(rd *reader, name, s string) ID {
	id, ok := parseID(s)
	if !ok {
		rd.fail(name, "has %q where a node and a run belong", s)
	}
	return id
}
