package standin

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// MaxFrame is the largest frame taken, in bytes.
const MaxFrame = 1 << 20

// Hello opens a connection, in both directions.
type Hello struct {
	Type     string `json:"type"` // always "hello"
	Software string `json:"software,omitempty"`
	KMSN     string `json:"kmsn"`
	Station  string `json:"station"`
	Epoch    uint64 `json:"epoch,omitempty"`
	PID      int    `json:"pid,omitempty"`
	// Ping asks for the answer only: the relay closes after it and tells nobody.
	Ping bool `json:"ping,omitempty"`
}

// WriteFrame writes one frame in a single write.
func WriteFrame(w io.Writer, body []byte) error {
	if len(body) > MaxFrame {
		return fmt.Errorf("write frame: %d bytes are more than %d", len(body), MaxFrame)
	}
	buf := make([]byte, 4, 4+len(body))
	binary.BigEndian.PutUint32(buf, uint32(len(body)))
	_, err := w.Write(append(buf, body...))
	return err
}

// ReadFrame reads one frame. It fails on one longer than MaxFrame without
// reading it.
func ReadFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxFrame {
		return nil, fmt.Errorf("read frame: %d bytes are more than %d", n, MaxFrame)
	}
	body := make([]byte, n)
	_, err := io.ReadFull(r, body)
	return body, err
}

func writeHello(w io.Writer, h Hello) error {
	h.Type = "hello"
	body, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode hello: %w", err)
	}
	return WriteFrame(w, body)
}

func readHello(r io.Reader) (Hello, error) {
	body, err := ReadFrame(r)
	if err != nil {
		return Hello{}, fmt.Errorf("read hello: %w", err)
	}
	var h Hello
	if err := json.Unmarshal(body, &h); err != nil {
		return Hello{}, fmt.Errorf("read hello: %w", err)
	}
	if h.Type != "hello" {
		return Hello{}, fmt.Errorf("read hello: got a %q frame", h.Type)
	}
	return h, nil
}
