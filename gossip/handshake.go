package gossip

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/convertfw/floatrelay/lease"
)

// The connection to the leader's daemon begins with a byte memberlist never
// sends first (its streams start with the label's 244), then both sides prove
// that they know the site's key, with nonces of both, so that a recorded
// handshake is worth nothing:
//
//	client → magic(1) version(1)
//	server → nonce(16)
//	client → len(1) target node, run; len(1) own node, run; nonce(16); mac(32)
//	server → mac(32)
//
// After that both send a byte each heartbeat.
const (
	watchMagic   = 0xF7
	watchVersion = 1
	nonceLen     = 16
	macLen       = sha256.Size
)

var errWatchRefused = errors.New("handshake refused")

// watchMAC authenticates one direction of the handshake.
func watchMAC(key []byte, what, kmsn string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range append([][]byte{[]byte(what), []byte(kmsn)}, parts...) {
		h.Write([]byte{byte(len(p) >> 8), byte(len(p))})
		h.Write(p)
	}
	return h.Sum(nil)
}

// watchHello is the client's part. It returns nil once the server has proved
// to be target's daemon.
func watchHello(c io.ReadWriter, key keyPair, kmsn string, target, self lease.ID) error {
	if _, err := c.Write([]byte{watchMagic, watchVersion}); err != nil {
		return fmt.Errorf("send watch hello: %w", err)
	}
	theirs := make([]byte, nonceLen)
	if _, err := io.ReadFull(c, theirs); err != nil {
		return fmt.Errorf("read watch nonce: %w", err)
	}
	body := appendID(appendID(nil, target), self)
	ours := make([]byte, nonceLen)
	_, _ = rand.Read(ours) // never fails
	body = append(body, ours...)
	mac := watchMAC(key.watch, "hello", kmsn, theirs, body)
	if _, err := c.Write(append(body, mac...)); err != nil {
		return fmt.Errorf("send watch proof: %w", err)
	}
	answer := make([]byte, macLen)
	if _, err := io.ReadFull(c, answer); err != nil {
		return fmt.Errorf("read watch proof: %w", err)
	}
	if !hmac.Equal(answer, watchMAC(key.watch, "welcome", kmsn, theirs, body)) {
		return fmt.Errorf("check watch proof: %w", errWatchRefused)
	}
	return nil
}

// watchWelcome is the server's part, after the magic byte. It returns who is
// watching.
func watchWelcome(c io.ReadWriter, keys []keyPair, kmsn string, self lease.ID) (lease.ID, error) {
	var version [1]byte
	if _, err := io.ReadFull(c, version[:]); err != nil {
		return lease.ID{}, fmt.Errorf("read watch version: %w", err)
	}
	if version[0] != watchVersion {
		return lease.ID{}, fmt.Errorf("watch version %d: %w", version[0], errWatchRefused)
	}
	ours := make([]byte, nonceLen)
	_, _ = rand.Read(ours)
	if _, err := c.Write(ours); err != nil {
		return lease.ID{}, fmt.Errorf("send watch nonce: %w", err)
	}
	var body bytes.Buffer
	in := io.TeeReader(c, &body)
	target, err := readID(in)
	if err != nil {
		return lease.ID{}, err
	}
	from, err := readID(in)
	if err != nil {
		return lease.ID{}, err
	}
	if _, err := io.CopyN(io.Discard, in, nonceLen); err != nil {
		return lease.ID{}, fmt.Errorf("read watch nonce: %w", err)
	}
	mac := make([]byte, macLen)
	if _, err := io.ReadFull(c, mac); err != nil {
		return lease.ID{}, fmt.Errorf("read watch proof: %w", err)
	}
	for _, k := range keys {
		if !hmac.Equal(mac, watchMAC(k.watch, "hello", kmsn, ours, body.Bytes())) {
			continue
		}
		if target != self {
			return from, fmt.Errorf("watch of %s, not of this run: %w", target, errWatchRefused)
		}
		_, err := c.Write(watchMAC(k.watch, "welcome", kmsn, ours, body.Bytes()))
		return from, err
	}
	return lease.ID{}, fmt.Errorf("watch with another token: %w", errWatchRefused)
}

func appendID(b []byte, id lease.ID) []byte {
	return appendText(appendText(b, id.Node), id.Run)
}

// readID reads what appendID wrote, byte by byte bounded.
func readID(r io.Reader) (lease.ID, error) {
	var id lease.ID
	for _, f := range []struct {
		to    *string
		limit int
	}{{&id.Node, maxNode}, {&id.Run, maxRun}} {
		var n [1]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return id, fmt.Errorf("read watch id: %w", err)
		}
		if n[0] == 0 || int(n[0]) > f.limit {
			return id, fmt.Errorf("watch id of %d bytes: %w", n[0], errWatchRefused)
		}
		b := make([]byte, n[0])
		if _, err := io.ReadFull(r, b); err != nil {
			return id, fmt.Errorf("read watch id: %w", err)
		}
		*f.to = string(b)
	}
	return id, nil
}
