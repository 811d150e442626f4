package gossip

import (
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/memnet"
)

func (s *splitter) counts() (in, ips int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.in, len(s.perIP)
}

func TestSplitter_BoundsSilentConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)

		var open []net.Conn
		var ports []*memnet.Port
		defer func() {
			for _, p := range ports {
				p.Kill()
			}
		}()
		flood := func(hosts, each int) {
			for h := range hosts {
				p, err := s.net.Listen(memnet.Host(100+h), len(open)+1)
				require.NoError(t, err)
				ports = append(ports, p)
				for range each {
					c, err := p.DialTimeout("10.0.0.1:7946", time.Second)
					require.NoError(t, err)
					open = append(open, c)
				}
			}
		}
		s.net.SetQuality(memnet.Quality{})
		flood(1, 100)
		synctest.Wait()
		in, _ := a.tr.counts()
		require.Equal(t, maxStreamsPerIP, in)
		b.Watch(id(1))
		within(t, time.Second, "others still get through", func() bool { return a.Watchers() == 1 })
		flood(20, 40)
		synctest.Wait()
		in, _ = a.tr.counts()
		require.Equal(t, maxStreams, in)
		time.Sleep(2 * firstByteTimeout)
		in, ips := a.tr.counts()
		require.Equal(t, 1, in, "only the watch is left")
		require.Equal(t, 1, ips)
		see(t, 0, a, b)
		require.Empty(t, b.rec.leadersGone())
	})
}
