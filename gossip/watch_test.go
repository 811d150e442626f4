package gossip

import (
	"bytes"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// watched returns two members of which b watches a.
func watched(t *testing.T, s *station) (a, b *node) {
	a, b = s.start(config(1), 0), s.start(config(2), 1, 0)
	see(t, 5*time.Second, a, b)
	b.Watch(id(1))
	within(t, time.Second, "the leader is watched", func() bool { return a.Watchers() == 1 })
	return a, b
}

func TestWatch_LeaderGoneAtOnceWhenItsProcessDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := watched(t, s)
		defer closeAll(a, b)
		time.Sleep(time.Minute)
		require.Empty(t, b.rec.leadersGone(), "an idle connection lives on")
		a.port.Kill()
		took := within(t, time.Second, "the leader is gone", func() bool { return len(b.rec.leadersGone()) == 1 })
		require.LessOrEqual(t, took, 20*time.Millisecond)
		require.Equal(t, []lease.ID{id(1)}, b.rec.leadersGone())
		time.Sleep(time.Minute)
		require.Len(t, b.rec.leadersGone(), 1, "said once")
	})
}

func TestWatch_DroppedByUsIsNotGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := watched(t, s)
		c := s.start(config(3), 2, 0)
		defer closeAll(a, b, c)
		see(t, 5*time.Second, a, b, c)
		b.Watch(id(1)) // again: nothing changes
		b.Watch(id(3))
		within(t, time.Second, "the watch moved", func() bool { return a.Watchers() == 0 && c.Watchers() == 1 })
		b.Watch(lease.ID{})
		within(t, time.Second, "the watch ended", func() bool { return c.Watchers() == 0 })
		c.port.Kill()
		time.Sleep(time.Minute)
		require.Empty(t, b.rec.leadersGone())
	})
}

func TestWatch_SilentLeaderIsGoneAfterThreeHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := watched(t, s)
		defer closeAll(a, b)
		s.net.PowerOff(a.host, true)
		took := within(t, time.Minute, "the leader is gone", func() bool { return len(b.rec.leadersGone()) == 1 })
		require.InDelta(t, 12.5, took.Seconds(), 3)
		within(t, 30*time.Second, "the leader lets go too", func() bool { return a.Watchers() == 0 })
	})
}

func TestWatch_ReconnectsAndReportsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := watched(t, s)
		defer closeAll(a, b)
		require.NoError(t, a.SetAddress(a.host.String())) // drops every connection
		within(t, time.Second, "gone", func() bool { return len(b.rec.leadersGone()) == 1 })
		within(t, 10*time.Second, "watched again", func() bool { return a.Watchers() == 1 })
		a.port.Kill()
		within(t, time.Second, "gone again", func() bool { return len(b.rec.leadersGone()) == 2 })
	})
}

func TestWatch_OfAnotherRunIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := watched(t, s)
		require.NoError(t, a.Close())
		next := s.start(rotating(1, "next", "secret", ""), 0, 1)
		defer closeAll(b, next)
		see(t, 10*time.Second, b, next)
		time.Sleep(time.Minute)
		require.Zero(t, next.Watchers(), "b still asks for the run that is gone")
		require.Len(t, b.rec.leadersGone(), 1)
		b.Watch(next.cfg.Self)
		within(t, time.Second, "watched", func() bool { return next.Watchers() == 1 })
	})
}

// handshake runs both sides over a pipe and returns both results.
func handshake(t *testing.T, client func(net.Conn) error, server func(net.Conn) error) (error, error) {
	t.Helper()
	c, s := net.Pipe()
	done := make(chan error, 1)
	go func() {
		defer s.Close()
		var magic [1]byte
		if _, err := io.ReadFull(s, magic[:]); err != nil {
			done <- err
			return
		}
		done <- server(s)
	}()
	err := client(c)
	_ = c.Close()
	return err, <-done
}

func TestHandshake_ProvesBothSides(t *testing.T) {
	key := func(token, kmsn string) keyPair {
		k, err := newKeyPair(token, kmsn)
		require.NoError(t, err)
		return k
	}
	good := key("secret", "4711")
	hello := func(k keyPair, kmsn string, target lease.ID) func(net.Conn) error {
		return func(c net.Conn) error { return watchHello(c, k, kmsn, target, id(2)) }
	}
	var from lease.ID
	welcome := func(keys ...keyPair) func(net.Conn) error {
		return func(c net.Conn) (err error) {
			from, err = watchWelcome(c, keys, "4711", id(1))
			return err
		}
	}
	t.Run("same token", func(t *testing.T) {
		ce, se := handshake(t, hello(good, "4711", id(1)), welcome(good))
		require.NoError(t, ce)
		require.NoError(t, se)
		require.Equal(t, id(2), from)
	})
	t.Run("old token during a rotation", func(t *testing.T) {
		ce, se := handshake(t, hello(key("old", "4711"), "4711", id(1)), welcome(good, key("old", "4711")))
		require.NoError(t, ce)
		require.NoError(t, se)
	})
	for name, client := range map[string]func(net.Conn) error{
		"wrong token": hello(key("other", "4711"), "4711", id(1)),
		"other site":  hello(good, "0815", id(1)),
		"other run":   hello(good, "4711", id(3)),
		"later version": func(c net.Conn) error {
			_, err := c.Write([]byte{watchMagic, watchVersion + 1})
			return err
		},
		"overlong id": func(c net.Conn) error {
			_, _ = c.Write([]byte{watchMagic, watchVersion})
			_, _ = io.ReadFull(c, make([]byte, nonceLen))
			_, err := c.Write([]byte{255})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, se := handshake(t, client, welcome(good))
			require.ErrorIs(t, se, errWatchRefused)
		})
	}
	t.Run("an impostor cannot answer", func(t *testing.T) {
		ce, _ := handshake(t, hello(good, "4711", id(1)), func(c net.Conn) error {
			_, _ = io.ReadFull(c, make([]byte, 1))
			_, _ = c.Write(make([]byte, nonceLen))
			n := len(appendID(appendID(nil, id(1)), id(2))) + nonceLen + macLen
			_, _ = io.ReadFull(c, make([]byte, n))
			_, err := c.Write(bytes.Repeat([]byte{7}, macLen))
			return err
		})
		require.ErrorIs(t, ce, errWatchRefused)
	})
	t.Run("a recorded hello is worth nothing", func(t *testing.T) {
		var record bytes.Buffer
		ce, _ := handshake(t, func(c net.Conn) error {
			return watchHello(struct {
				io.Reader
				io.Writer
			}{c, io.MultiWriter(c, &record)}, good, "4711", id(1), id(2))
		}, welcome(good))
		require.NoError(t, ce)
		_, se := handshake(t, func(c net.Conn) error {
			b := record.Bytes()
			_, _ = c.Write(b[:2])
			_, _ = io.ReadFull(c, make([]byte, nonceLen))
			_, err := c.Write(b[2:])
			return err
		}, welcome(good))
		require.ErrorIs(t, se, errWatchRefused)
	})
}
