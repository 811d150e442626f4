package daemon

import (
	"context"
	"sync"

	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/history"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/metrics"
	"github.com/convertfw/floatrelay/internal/reason"
)

// observer is who watches a daemon without changing what it does: the metrics
// and the history.
type observer struct {
	metrics *metrics.Metrics
	log     *history.Log

	mu      sync.Mutex
	tracker history.Tracker
}

// openObserver never fails: a history that cannot be read begins anew.
func (d *Daemon) openObserver() {
	d.seen.metrics = metrics.New(metrics.Source{
		Version: d.opt.Version, Now: d.opt.now, Members: d.memberStates,
		Status: func() arbiter.Status { return d.driver.Status() }, Forward: d.forwardStats,
	})
	var err error
	if d.seen.log, err = history.Open(d.cfg.StateDir); err != nil {
		d.log.Warn("cannot read the history", zap.Error(err))
	}
	d.seen.tracker.Station, d.seen.tracker.Lang = d.cfg.Station, d.lang
}

func (d *Daemon) memberStates() map[string]int {
	count := map[string]int{}
	for _, r := range d.gossip.Members() {
		count[r.State.String()]++
	}
	return count
}

// sawStatus takes in a changed status. It must not block.
func (d *Daemon) sawStatus(s arbiter.Status) {
	d.seen.metrics.Status(s)
	if s.Head.Record.Owner != d.self { // one's own says nothing
		d.clock.saw(s.Head, d.timeOfDay(s.HeadSeen))
	}
	d.seen.mu.Lock()
	defer d.seen.mu.Unlock()
	for _, p := range d.seen.tracker.Change(d.opt.wall(), d.opt.now(), s) {
		d.seen.log.Add(p)
	}
}

// sawNote takes in a line that was reported. What the tracker tells better is
// left out.
func (d *Daemon) sawNote(ev localapi.Event) {
	switch ev.Fact.Code {
	case reason.RoleIs, reason.RoleFollows, reason.RoleOwnLease:
	default:
		d.seen.log.Add(localapi.Past{Event: ev})
	}
}

// keepHistory writes the history's file for as long as ctx lasts.
func (d *Daemon) keepHistory(ctx context.Context) {
	d.seen.log.Add(localapi.Past{Event: localapi.Event{
		Time: d.opt.wall(), Kind: "start", Text: "floatrelay " + d.opt.Version + " starts", Station: d.cfg.Station,
	}})
	d.seen.log.Run(ctx, func(err error) {
		if err != nil {
			d.log.Warn("cannot keep the history", zap.Error(err))
			return
		}
		d.log.Info("the history is kept again")
	})
}

// History is what happened on this PC, oldest first.
func (d *Daemon) History() []localapi.Past { return d.seen.log.Events() }
