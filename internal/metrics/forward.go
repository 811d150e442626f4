package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/convertfw/floatrelay/internal/forward"
)

var (
	forwardOpenDesc = prometheus.NewDesc(namespace+"_forward_connections",
		"Connections of programs through FORWARD_PORT: relay (to the site's), fallback (to RELAY_HOST), held (waiting).", []string{"to"}, nil)
	forwardTotalDesc = prometheus.NewDesc(namespace+"_forward_accepted_total",
		"Programs that connected to FORWARD_PORT.", nil, nil)
	forwardRefusedDesc = prometheus.NewDesc(namespace+"_forward_refused_total",
		"Of them those that reached no relay: full (too many at once), late (FORWARD_HOLD ran out), gone (closed while held).", []string{"why"}, nil)
	forwardBytesDesc = prometheus.NewDesc(namespace+"_forward_bytes_total",
		"Bytes from programs (up) and to them (down).", []string{"direction"}, nil)
)

// forwarded shows the forwarder, where there is one.
type forwarded struct{ m *Metrics }

// Describe implements prometheus.Collector.
func (forwarded) Describe(ch chan<- *prometheus.Desc) {
	ch <- forwardOpenDesc
	ch <- forwardTotalDesc
	ch <- forwardRefusedDesc
	ch <- forwardBytesDesc
}

// Collect implements prometheus.Collector.
func (f forwarded) Collect(ch chan<- prometheus.Metric) {
	s, there := forward.Stats{}, false
	if f.m.src.Forward != nil {
		s, there = f.m.src.Forward()
	}
	if !there {
		return
	}
	gauge := func(n int64, to string) {
		ch <- prometheus.MustNewConstMetric(forwardOpenDesc, prometheus.GaugeValue, float64(n), to)
	}
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge(s.Open, "relay")
	gauge(s.Fallback, "fallback")
	gauge(s.Held, "held")
	count(forwardTotalDesc, s.Accepted)
	count(forwardRefusedDesc, s.Full, "full")
	count(forwardRefusedDesc, s.Late, "late")
	count(forwardRefusedDesc, s.GaveUp, "gone")
	count(forwardBytesDesc, s.Up, "up")
	count(forwardBytesDesc, s.Down, "down")
}
