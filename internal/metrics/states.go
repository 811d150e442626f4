package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/convertfw/floatrelay/arbiter"
)

var (
	roleDesc = prometheus.NewDesc(namespace+"_role",
		"1 for the role this member has, 0 for the others.", []string{"role"}, nil)
	membersDesc = prometheus.NewDesc(namespace+"_members",
		"Members this one knows, itself included, by state.", []string{"state"}, nil)
)

// memberStates are always shown, so that none vanishes from a graph.
var memberStates = []string{"alive", "suspect", "dead", "left"}

// states shows role and members, whose labels have fixed values.
type states struct{ m *Metrics }

// Describe implements prometheus.Collector.
func (states) Describe(ch chan<- *prometheus.Desc) {
	ch <- roleDesc
	ch <- membersDesc
}

// Collect implements prometheus.Collector.
func (s states) Collect(ch chan<- prometheus.Metric) {
	now := s.m.src.Status().Role
	for r := arbiter.Client; r <= arbiter.Ineligible; r++ {
		ch <- prometheus.MustNewConstMetric(roleDesc, prometheus.GaugeValue, bit(r == now), r.String())
	}
	count := s.m.src.Members()
	for _, name := range memberStates {
		ch <- prometheus.MustNewConstMetric(membersDesc, prometheus.GaugeValue, float64(count[name]), name)
	}
}
