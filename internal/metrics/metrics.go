package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/forward"
)

// namespace starts every name of ours.
const namespace = "floatrelay"

// Source is what is asked when somebody scrapes. Its functions answer from
// memory.
type Source struct {
	Version string
	// Status is the arbiter's newest snapshot.
	Status func() arbiter.Status
	// Members counts the members this one knows by state (alive, suspect,
	// dead, left), itself included.
	Members func() map[string]int
	// Now is boot time.
	Now func() time.Duration
	// Forward are the figures of the forwarder; it reports false without one. It
	// may be nil.
	Forward func() (forward.Stats, bool)
}

// Metrics are the figures of one daemon. All methods are safe for concurrent
// use.
type Metrics struct {
	src Source
	reg *prometheus.Registry

	takeovers *prometheus.CounterVec
	ends      *prometheus.CounterVec
	relayEnds *prometheus.CounterVec
	share     *prometheus.HistogramVec
	margin    prometheus.Histogram

	beatsSent, beatsGot, beatsLost       prometheus.Counter
	vouchesSent, vouchesGot, vouchesLost prometheus.Counter

	flow   flow
	tenure tenure
}

// New returns the metrics of a daemon.
func New(src Source) *Metrics {
	m := &Metrics{src: src, reg: prometheus.NewRegistry()}
	m.takeovers = m.counters("takeovers_total", "Tenures this member began, by the reason that allowed it.", "reason")
	m.ends = m.counters("tenures_ended_total", "Tenures of this member that ended: released (given back) or lost.", "how")
	m.relayEnds = m.counters("relay_ends_total", "Relay processes of this member that ended, by cause.", "cause")
	m.share = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: "share_operation_duration_seconds",
		Help:    "How long operations on the lease share took, by operation and outcome.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 60},
	}, []string{"op", "outcome"})
	m.margin = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: namespace, Name: "fence_margin_at_beat_seconds",
		Help:    "How much longer the relay could have run without news, seen at each beat sent.",
		Buckets: []float64{.05, .1, .25, .5, .75, 1, 1.25, 1.5, 2, 3, 5, 10},
	})
	m.reg.MustRegister(m.share, m.margin)
	m.beatsSent = m.counter("beats_sent_total", "Beats sent, one per member addressed.")
	m.beatsGot = m.counter("beats_received_total", "Beats of leaders received.")
	m.beatsLost = m.counter("beats_lost_total", "Beats missing in the numbering of a leader's beats received here.")
	m.vouchesSent = m.counter("vouches_sent_total", "Vouches sent to leaders.")
	m.vouchesGot = m.counter("vouches_received_total", "Vouches received for beats of this run.")
	m.vouchesLost = m.counter("vouches_lost_total", "Beats sent that the member addressed had not vouched for eight beats later.")
	m.collect()
	return m
}

func (m *Metrics) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
	m.reg.MustRegister(c)
	return c
}

func (m *Metrics) counters(name, help, label string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, []string{label})
	m.reg.MustRegister(c)
	return c
}

// collect registers what is asked for at each scrape.
func (m *Metrics) collect() {
	status := func(name, help string, f func(arbiter.Status) float64) {
		m.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help},
			func() float64 { return f(m.src.Status()) }))
	}
	status("epoch", "Epoch of the newest readable record.", func(s arbiter.Status) float64 { return float64(s.Epoch) })
	status("rev", "Number of the newest record.", func(s arbiter.Status) float64 { return float64(s.Rev) })
	status("eligible", "1 if this member may lead.", func(s arbiter.Status) float64 { return bit(s.Eligible) })
	status("roster_members", "Members that may take over fast, by the newest record.", func(s arbiter.Status) float64 { return float64(len(s.Roster)) })
	status("relay_running", "1 while a relay of this member is ready.", func(s arbiter.Status) float64 { return bit(s.Relay == arbiter.RelayRunning) })
	status("fence_margin_seconds", "How much longer the relay may run without news; 0 unless leading.",
		func(s arbiter.Status) float64 { return m.fenceMargin(s).Seconds() })
	status("share_silent_seconds", "Time since the share last answered; -1 if it never did.", m.shareSilent)
	m.reg.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "relay_restarts_total", Help: "Restarts of the relay within tenures of this member.",
		}, func() float64 { return float64(m.src.Status().Restarts) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "build_info", Help: "1, labelled with the version.",
			ConstLabels: prometheus.Labels{"version": m.src.Version, "goversion": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH},
		}, func() float64 { return 1 }),
		states{m},
		forwarded{m},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
}

// Handler answers /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.reg, promhttp.HandlerOpts{})
}

func (m *Metrics) fenceMargin(s arbiter.Status) time.Duration {
	if s.Deadline == 0 {
		return 0
	}
	return max(0, s.Deadline-m.src.Now())
}

func (m *Metrics) shareSilent(s arbiter.Status) float64 {
	if s.ShareOK == 0 {
		return -1
	}
	return (m.src.Now() - s.ShareOK).Seconds()
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
