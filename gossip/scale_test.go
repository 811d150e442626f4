package gossip

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/memnet"
)

// figures are what a station of n members costs and how fast it is.
type figures struct {
	joined      time.Duration // all started at once until all see all
	detected    time.Duration // host cut until everybody knows
	packets     float64       // per second and member, idle
	bytes       float64       // the same, packets only
	streams     float64       // connections per minute and member, idle
	metaReached time.Duration
}

// measure runs a station of n members for some minutes of virtual time.
func measure(t *testing.T, n int) (f figures) {
	s := &station{t: t, net: memnet.New(uint64(n))}
	s.net.SetQuality(memnet.Quality{Min: 200 * time.Microsecond, Max: 2 * time.Millisecond})
	var nodes []*node
	for i := range n {
		nodes = append(nodes, s.start(config(i), i, (i+1)%n, (i+n/2)%n, 0))
	}
	defer func() { closeAll(nodes...) }()
	f.joined = see(t, time.Minute, nodes...)
	time.Sleep(time.Minute)

	span := func(d time.Duration) memnet.Stats {
		a := s.net.Stats()
		time.Sleep(d)
		b := s.net.Stats()
		return memnet.Stats{Packets: b.Packets - a.Packets, Bytes: b.Bytes - a.Bytes, Streams: b.Streams - a.Streams}
	}
	const idle = 2 * time.Minute
	st := span(idle)
	per := float64(n) * idle.Seconds()
	f.packets, f.bytes, f.streams = float64(st.Packets)/per, float64(st.Bytes)/per, 60*float64(st.Streams)/per

	m := nodes[0].cfg.Meta
	m.Role, m.Rev = "leader", 77
	nodes[0].SetMeta(m)
	f.metaReached = within(t, time.Minute, "the leader's meta reaches all", func() bool {
		for _, o := range nodes[1:] {
			if r, _ := o.table.get(id(0)); r.Meta.Rev != 77 {
				return false
			}
		}
		return true
	})
	time.Sleep(10 * time.Second)
	victim := nodes[n-1]
	s.net.PowerOff(victim.host, true)
	f.detected = see(t, time.Minute, nodes[:n-1]...)
	return f
}

func (f figures) String() string {
	return fmt.Sprintf("joined %v, dead host known to all after %v, idle %.1f packets/s, %.0f B/s, %.2f streams/min per member, meta known to all after %v",
		f.joined, f.detected, f.packets, f.bytes, f.streams, f.metaReached)
}

// A station's idle cost per member must not grow with the station, and
// detection only a little.
func TestScale_FiftyMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := measure(t, 50)
		t.Log(f)
		require.Less(t, f.joined, 30*time.Second)
		require.Less(t, f.detected, 8*time.Second)
		require.Less(t, f.bytes, 5000.0)
	})
}

// TestScale_Table measures several sizes; -scale names them.
var scale = flag.String("scale", "", "sizes of stations to measure, such as 2,10,200")

func TestScale_Table(t *testing.T) {
	sizes := "2,10"
	if *scale != "" {
		sizes = *scale
	}
	for _, size := range strings.Split(sizes, ",") {
		n, err := strconv.Atoi(size)
		require.NoError(t, err)
		t.Run(size, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { t.Log(measure(t, n)) })
		})
	}
}
