package gossip

import (
	"crypto/sha256"
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
// and, in which ids have their short form, for members that announce Meta.Brief:
//
//	version(1) type(1) node run  …by type
//	brief beat:  num(8) sum(16)
//	brief vouch: run num(8)
//	want:        run num(8)
//
// Big endian. A later version may append to all but beat and head, and add
// types; a reader ignores both, so that mixed versions keep working. A change of
// meaning takes a new version byte, which older readers ignore altogether.
const (
	wireVersion = 1

	typeBeat  = 1
	typeVouch = 2
	typeHead  = 3
	typeBye   = 4 // said before leaving: memberlist does not tell left from dead

	typeBriefBeat  = 5 // a beat whose record the reader has; sum names it
	typeBriefVouch = 6 // a vouch
	typeWant       = 7 // answers a brief beat whose record the reader has not
	typeLast       = typeWant

	maxNode = 64 // bytes of a node id; a UUID has 36
	maxRun  = 32 // bytes of a run id; ours have 12
)

// maxDatagram is the most that is sent in one packet, all of memberlist's parts
// included. With 28 bytes of IP and UDP it passes where the MTU is 1,280, as in
// VPNs and tunnels, which lose larger packets without a word.
const maxDatagram = 1200

// MaxMessage is the largest encoded message in bytes. With memberlist's own
// overhead (label 18, encryption 29, checksum 5, type 1) it stays below
// maxDatagram.
const MaxMessage = 2 + 1 + maxNode + 1 + maxRun + 8 + lease.MaxBody

// Errors of the decoder.
var (
	// errFuture is a message of a later version or type: ignored in silence.
	errFuture = errors.New("message of a later version")
	// errMalformed is a message nobody of this version would send.
	errMalformed = errors.New("malformed message")
)

// digest names the exact bytes of a record: the first half of their SHA-256.
type digest [16]byte

func digestOf(body []byte) digest {
	sum := sha256.Sum256(body)
	return digest(sum[:len(digest{})])
}

// message is a decoded message. Run is only used by vouches and want, Num by all
// but head and bye, Body by beat and head, Sum by a brief beat.
type message struct {
	Type byte
	From lease.ID
	Run  string
	Num  uint64
	Body []byte
	Sum  digest
}

// brief reports whether the message is one of those for Meta.Brief.
func (m message) brief() bool { return m.Type >= typeBriefBeat }

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
	if m.brief() {
		return m.appendBrief(b)
	}
	b = appendText(b, m.From.Node)
	b = appendText(b, m.From.Run)
	switch m.Type {
	case typeBeat:
		b = binary.BigEndian.AppendUint64(b, m.Num)
		b = append(b, m.Body...)
	case typeVouch:
		if err := m.checkRun(); err != nil {
			return nil, err
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

// appendBrief appends what follows the type of a message with short ids.
func (m message) appendBrief(b []byte) ([]byte, error) {
	b = appendNode(b, m.From.Node)
	b = appendRun(b, m.From.Run)
	switch m.Type {
	case typeBriefBeat:
		b = binary.BigEndian.AppendUint64(b, m.Num)
		return append(b, m.Sum[:]...), nil
	case typeBriefVouch, typeWant:
		if err := m.checkRun(); err != nil {
			return nil, err
		}
		b = appendRun(b, m.Run)
		return binary.BigEndian.AppendUint64(b, m.Num), nil
	}
	return nil, fmt.Errorf("encode message: type %d is unknown", m.Type)
}

// checkRun says whether the run that a message answers can travel.
func (m message) checkRun() error {
	if m.Run == "" || len(m.Run) > maxRun {
		return fmt.Errorf("encode vouch: run id of %d bytes", len(m.Run))
	}
	return nil
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
	if m.Type < typeBeat || m.Type > typeLast {
		return message{}, errFuture
	}
	r := reader{b: b[2:]}
	if m.brief() {
		m.From = lease.ID{Node: r.node(), Run: r.run()}
	} else {
		m.From = lease.ID{Node: r.text(maxNode), Run: r.text(maxRun)}
	}
	switch m.Type {
	case typeBeat:
		m.Num = r.uint64()
		m.Body = r.rest()
	case typeVouch:
		m.Run = r.text(maxRun)
		m.Num = r.uint64()
	case typeHead:
		m.Body = r.rest()
	case typeBriefBeat:
		m.Num = r.uint64()
		copy(m.Sum[:], r.take(len(m.Sum)))
	case typeBriefVouch, typeWant:
		m.Run = r.run()
		m.Num = r.uint64()
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
