package gossip

import (
	"context"
	"regexp"
	"time"
)

const (
	// probeRate is how many questions are taken in per second. It must be enough
	// for every PC of a large site looking at once.
	probeRate = 100
	// probeQueue bounds the questions waiting, probeWorkers those being answered
	// at once: each may be a connection that takes its time.
	probeQueue   = 64
	probeWorkers = 8
	// proofQueue holds the questions of a large site of which all PCs start.
	proofQueue = 256
	// raceEvery is the shortest time between two races this member takes part
	// in, whoever asks.
	raceEvery = 3 * time.Second
)

// raceName is what a race may be called: files are made under names derived
// from it and from nothing else of the question.
var raceName = regexp.MustCompile(`^[0-9a-f]{32}$`)

func newProber(g *Gossip) *prober {
	return &prober{
		g: g, asked: make(chan probeMessage, probeQueue), proving: make(chan probeMessage, proofQueue),
		rate: newLimiter(probeRate), racing: make(chan struct{}, 1),
	}
}

// run answers until ctx ends.
func (p *prober) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-p.asked:
			p.answer(ctx, m)
		}
	}
}

// quick answers the questions that one packet answers, until ctx ends.
func (p *prober) quick(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-p.proving:
			p.answer(ctx, m)
		}
	}
}

// answer answers both ways; a question sent again only the way it came, so that
// lost packets do not multiply connections.
func (p *prober) answer(ctx context.Context, m probeMessage) {
	out := probeMessage{Type: typeAnswer, Q: m.Q, Of: m.By, Says: p.says()}
	if m.Race != "" {
		p.race(ctx, m, out)
		return
	}
	p.answerBy(byUDP, m, out)
	p.answerBy(byTCP, m, out)
}

func (p *prober) answerBy(way string, m, out probeMessage) {
	if m.Again && way != m.By {
		return
	}
	out.By = way
	p.send(m.From, out)
}

// says is what this member tells of itself.
func (p *prober) says() Says {
	p.g.metaMu.Lock()
	m := p.g.meta
	p.g.metaMu.Unlock()
	now := time.Now()
	zone, east := now.Zone()
	return Says{
		Station: clean(m.Station, 120), Share: m.Share, Version: clean(m.Version, maxMetaShare),
		WallMS: now.UnixMilli(), Zone: clean(zone, maxMetaWord), ZoneSec: east,
	}
}

// race takes part in a race, in the background: the share may hang, and then
// this member refuses every further one until it answers.
func (p *prober) race(ctx context.Context, m, out probeMessage) {
	tell := func() {
		out.By = byTCP
		p.send(m.From, out)
		out.By = byUDP // a copy, for the asker that no connection reaches
		p.send(m.From, out)
	}
	select {
	case p.racing <- struct{}{}:
	default:
		out.Refused = "another race is still going on there"
		tell()
		return
	}
	switch {
	case p.g.cfg.Race == nil || !raceName.MatchString(m.Race):
		out.Refused = "it does not race"
	case !p.raced.IsZero() && time.Since(p.raced) < raceEvery:
		out.Refused = "it raced a moment ago; repeat the check"
	}
	if out.Refused != "" {
		<-p.racing
		tell()
		return
	}
	p.raced = time.Now()
	go func() {
		defer func() { <-p.racing }()
		won, err := p.g.cfg.Race(ctx, m.Race)
		out.Won = won
		if err != nil {
			out.Refused = clean(err.Error(), 300)
		}
		tell()
	}()
}
