package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
)

const (
	// surveyTime bounds asking all members, surveyAtOnce how many are asked at
	// the same time: each costs two connections.
	surveyTime   = 7 * time.Second
	surveyAtOnce = 32
	// raceTime bounds this PC's creates in a race, raceEndTime removing them. Who
	// was asked to race removes them too, in case the asker looks at another
	// folder, once its race must be over.
	raceTime    = 3 * time.Second
	raceEndTime = time.Second
	raceOver    = 10 * time.Second
	// shareLanes is how many calls on the share may be waiting for it: this
	// PC's own race, one it was asked for, and tidying up.
	shareLanes = 3
)

// errSurveying refuses a second survey at a time.
var errSurveying = errors.New("another check is asking the members right now; repeat it in a few seconds")

// surveys is the doctor's lane in the daemon: it uses handles of its own on the
// share and goroutines of its own, and the arbiter never waits for it.
type surveys struct {
	busy  chan struct{} // one survey at a time
	lanes chan struct{}
	open  func() (lease.Share, error)
}

func newSurveys(open func() (lease.Share, error)) *surveys {
	return &surveys{busy: make(chan struct{}, 1), lanes: make(chan struct{}, shareLanes), open: open}
}

// Survey asks every live member how it is reached and what it sees, and races
// one of them for new files on the share.
func (d *Daemon) Survey(ctx context.Context) (localapi.Survey, error) {
	select {
	case d.surveys.busy <- struct{}{}:
		defer func() { <-d.surveys.busy }()
	default:
		return localapi.Survey{}, errSurveying
	}
	ctx, cancel := context.WithTimeout(ctx, surveyTime)
	defer cancel()
	share := d.driver.Status().Share
	out := localapi.Survey{
		Self: d.self.String(), KMSN: d.cfg.KMSN, Station: d.cfg.Station, Share: share, Version: d.opt.Version,
	}
	var rows []gossip.Row
	for _, r := range d.gossip.Members() {
		if !r.Self {
			rows = append(rows, r)
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { out.Race = d.raceAgainst(ctx, opponent(rows, share)) })
	out.Members = d.askAll(ctx, rows)
	wg.Wait()
	for _, s := range d.gossip.Strangers() {
		out.Strangers = append(out.Strangers, localapi.Stranger{Addr: s.Addr, Code: s.Kind.Code(), Why: s.Kind.String()})
	}
	return out, nil
}

// askAll probes those that are up, several at a time.
func (d *Daemon) askAll(ctx context.Context, rows []gossip.Row) []localapi.Surveyed {
	out := make([]localapi.Surveyed, len(rows))
	slots := make(chan struct{}, surveyAtOnce)
	var wg sync.WaitGroup
	for i, r := range rows {
		out[i] = surveyed(r)
		if !r.Up() {
			continue
		}
		wg.Go(func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return
			}
			out[i].Asked = true
			out[i] = withProbe(out[i], d.gossip.Probe(ctx, r.ID))
		})
	}
	wg.Wait()
	return out
}

func surveyed(r gossip.Row) localapi.Surveyed {
	return localapi.Surveyed{
		ID: r.ID.String(), Station: r.Meta.Station, Addr: r.Addr.String(), State: r.State.String(),
		Share: r.Meta.Share, Version: r.Meta.Version,
	}
}

func withProbe(m localapi.Surveyed, p gossip.Probed) localapi.Surveyed {
	m.Answered = p.Answered
	m.UDPOut, m.UDPBack, m.TCPOut, m.TCPBack = p.Ways.UDPOut, p.Ways.UDPBack, p.Ways.TCPOut, p.Ways.TCPBack
	if p.Answered {
		m.SkewMS, m.RTT = p.Skew.Milliseconds(), float64(p.RTT.Microseconds())/1000
		m.Zone, m.ZoneSec = p.Says.Zone, p.Says.ZoneSec
		m.Share, m.Version = p.Says.Share, p.Says.Version
	}
	return m
}

// opponent is a member on the same share, rather not the leader: it has more
// important things to write.
func opponent(rows []gossip.Row, share string) (found gossip.Row) {
	for _, r := range rows {
		if !r.Up() || share == "" || r.Meta.Share != share {
			continue
		}
		if found = r; !r.Meta.Leads() {
			break
		}
	}
	return found
}

// raceAgainst races one member, or returns nil if there is none to race.
func (d *Daemon) raceAgainst(ctx context.Context, r gossip.Row) *localapi.Race {
	if r.ID == (lease.ID{}) {
		return nil
	}
	out := &localapi.Race{With: r.Meta.Station}
	race := lease.NewRace()
	type result struct {
		won string
		err error
	}
	ours := make(chan result, 1)
	says, ok := d.gossip.ProbeRace(ctx, r.ID, race, func() {
		go func() {
			won, err := d.surveys.race(ctx, race)
			ours <- result{won, err}
		}()
	})
	var mine result
	select {
	case mine = <-ours:
	case <-ctx.Done():
		mine.err = errors.New("the share does not answer this PC")
	}
	d.surveys.end(context.WithoutCancel(ctx), race)
	out.Both, out.None, out.Rounds = lease.JudgeRace(mine.won, says.Won)
	switch {
	case out.Both > 0:
	case mine.err != nil:
		out.Error = fmt.Sprintf("this PC could not take part: %v", mine.err)
	case !ok:
		out.Error = r.Meta.Station + " did not answer"
	case says.Refused != "":
		out.Error = says.Refused
	}
	return out
}

// race creates the files of a race on a handle of its own.
func (s *surveys) race(ctx context.Context, race string) (won string, err error) {
	err = s.with(func(share lease.Share) error {
		ctx, cancel := context.WithTimeout(ctx, raceTime)
		defer cancel()
		won, err = lease.RaceOne(ctx, share, race)
		return err
	})
	return won, err
}

// end removes them, in the background if the share is slow.
func (s *surveys) end(ctx context.Context, race string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.with(func(share lease.Share) error {
			ctx, cancel := context.WithTimeout(ctx, 2*raceEndTime)
			defer cancel()
			return lease.RaceEnd(ctx, share, race)
		})
	}()
	select {
	case <-done:
	case <-time.After(raceEndTime):
	}
}

// asked is race for another member.
func (s *surveys) asked(ctx context.Context, race string) (won string, err error) {
	won, err = s.race(ctx, race)
	go func() {
		sleep(ctx, raceOver)
		s.end(context.WithoutCancel(ctx), race)
	}()
	return won, err
}

// with calls f with a handle of its own, unless too many calls already wait for
// the share.
func (s *surveys) with(f func(lease.Share) error) error {
	select {
	case s.lanes <- struct{}{}:
		defer func() { <-s.lanes }()
	default:
		return fmt.Errorf("%w: it does not answer the last check yet", lease.ErrUnavailable)
	}
	share, err := s.open()
	if err != nil {
		return err
	}
	if c, ok := share.(io.Closer); ok {
		defer c.Close()
	}
	return f(share)
}
