package gossip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/convertfw/floatrelay/lease"
)

// The wire form of a message, inside memberlist's encrypted user message:
//
//	version(1) type(1) len(1) node len(1) run  …by type
//	beat:  num(8) body
//	vouch: len(1) run num(8)
//	head:  body
//	bye:   nothing
//
// Big endian. A later version may append to a vouch or bye and add types; a reader
// ignores both, so that mixed versions keep working. A change of meaning takes
// a new version byte, which older readers ignore altogether.
const (
	wireVersion = 1

	typeBeat  = 1
	typeVouch = 2
	typeHead  = 3
	typeBye   = 4 // said before leaving: memberlist does not tell left from dead

	maxNode = 64 // bytes of a node id; a UUID has 36
	maxRun  = 32 // bytes of a run id; ours have 12
)

// MaxMessage is the largest encoded message in bytes. With memberlist's own
// overhead (label 18, encryption 29, checksum 5, type 1) it stays below the
// 1,400 bytes that fit every LAN's MTU.
const MaxMessage = 2 + 1 + maxNode + 1 + maxRun + 8 + lease.MaxBody

// Errors of the decoder.
var (
	// errFuture is a message of a later version or type: ignored in silence.
	errFuture = errors.New("message of a later version")
	// errMalformed is a message nobody of this version would send.
	errMalformed = errors.New("malformed message")
)

// message is a decoded message. Run is only used by a vouch, Num by beat and
// vouch, Body by beat and head.
type message struct {
	Type byte
	From lease.ID
	Run  string
	Num  uint64
	Body []byte
}

// checkID says whether an id can travel.
func checkID(id lease.ID) error {
	switch {
	case id.Node == "" || id.Run == "":
		return errors.New("node or run id is empty")
	case len(id.Node) > maxNode:
		return fmt.Errorf("node id is longer than %d bytes", maxNode)
	case len(id.Run) > maxRun:
		return fmt.Errorf("run id is longer than %d bytes", maxRun)
	case strings.ContainsAny(id.Node+id.Run, "/ \t\r\n"):
		return errors.New("node or run id contains a slash or blank")
	}
	return nil
}

// encode returns the wire form, or an error if a part is too long to travel.
func (m message) encode() ([]byte, error) {
	if err := checkID(m.From); err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	if len(m.Body) > lease.MaxBody {
		return nil, fmt.Errorf("encode message: body of %d bytes is above %d", len(m.Body), lease.MaxBody)
	}
	b := make([]byte, 0, 2+2+len(m.From.Node)+len(m.From.Run)+8+len(m.Body))
	b = append(b, wireVersion, m.Type)
	b = appendText(b, m.From.Node)
	b = appendText(b, m.From.Run)
	switch m.Type {
	case typeBeat:
		b = binary.BigEndian.AppendUint64(b, m.Num)
		b = append(b, m.Body...)
	case typeVouch:
		if m.Run == "" || len(m.Run) > maxRun {
			return nil, fmt.Errorf("encode vouch: run id of %d bytes", len(m.Run))
		}
		b = appendText(b, m.Run)
		b = binary.BigEndian.AppendUint64(b, m.Num)
	case typeHead:
		b = append(b, m.Body...)
	case typeBye:
	default:
		return nil, fmt.Errorf("encode message: type %d is unknown", m.Type)
	}
	return b, nil
}

// decodeMessage reads the wire form. The body is a copy: memberlist reuses the
// buffer.
func decodeMessage(b []byte) (message, error) {
	if len(b) < 2 {
		return message{}, errMalformed
	}
	if b[0] != wireVersion {
		return message{}, errFuture
	}
	m := message{Type: b[1]}
	if m.Type < typeBeat || m.Type > typeBye {
		return message{}, errFuture
	}
	r := reader{b: b[2:]}
	m.From = lease.ID{Node: r.text(maxNode), Run: r.text(maxRun)}
	switch m.Type {
	case typeBeat:
		m.Num = r.uint64()
		m.Body = r.rest()
	case typeVouch:
		m.Run = r.text(maxRun)
		m.Num = r.uint64()
	case typeHead:
		m.Body = r.rest()
	}
	if r.bad || checkID(m.From) != nil {
		return message{}, errMalformed
	}
	return m, nil
}

// appendText appends a length byte and the text; the caller has checked it.
func appendText(b []byte, s string) []byte {
	b = append(b, byte(len(s)))
	return append(b, s...)
}

// reader takes fields off a buffer and remembers if one was missing.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || len(r.b) < n {
		r.bad = true
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) text(limit int) string {
	n := r.take(1)
	if n == nil || n[0] == 0 || int(n[0]) > limit {
		r.bad = true
		return ""
	}
	return string(r.take(int(n[0])))
}

func (r *reader) uint64() uint64 {
	if v := r.take(8); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// rest is the body: never empty, never above the format's limit.
func (r *reader) rest() []byte {
	if len(r.b) == 0 || len(r.b) > lease.MaxBody {
		r.bad = true
		return nil
	}
	return append([]byte(nil), r.b...)
}
