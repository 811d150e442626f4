package gossip

import (
	"bytes"
	"encoding/hex"

	"github.com/google/uuid"
)

// The short form of a part of an id: a zero byte, then the bytes that its text
// stands for. Texts have a length above zero in that place. Nodes are UUIDs
// and runs twelve hex digits, so that an id takes 24 bytes instead of 50; any
// other text travels as it is.
const runBytes = 6

// appendNode appends a node id, short if it can be.
func appendNode(b []byte, node string) []byte {
	if u, err := uuid.Parse(node); err == nil && u.String() == node {
		return append(append(b, 0), u[:]...)
	}
	return appendText(b, node)
}

// appendRun appends a run id, short if it can be.
func appendRun(b []byte, run string) []byte {
	if raw, err := hex.DecodeString(run); err == nil && len(raw) == runBytes && hex.EncodeToString(raw) == run {
		return append(append(b, 0), raw...)
	}
	return appendText(b, run)
}

// short reports whether a short form of n bytes follows, and takes it.
func (r *reader) short(n int) ([]byte, bool) {
	if !bytes.HasPrefix(r.b, []byte{0}) {
		return nil, false
	}
	r.take(1)
	return r.take(n), true
}

func (r *reader) node() string {
	raw, ok := r.short(len(uuid.UUID{}))
	if !ok {
		return r.text(maxNode)
	}
	if r.bad {
		return ""
	}
	return uuid.UUID(raw).String()
}

func (r *reader) run() string {
	raw, ok := r.short(runBytes)
	if !ok {
		return r.text(maxRun)
	}
	return hex.EncodeToString(raw)
}
