//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/standin"
	"github.com/convertfw/floatrelay/internal/testkit/sambatest"
	"github.com/convertfw/floatrelay/lease"
)

// The figures of every test site.
const (
	kmsn  = "E2E"
	token = "e2e-token-not-for-a-site"
)

// site is a file server and some PCs on one switch.
type site struct {
	t      testing.TB
	lan    *lan
	server *sambatest.Server
	url    string
	pcs    []*pc
	codec  *lease.Codec
	chain  *lease.Chain // the share as the server's own disk shows it
}

// newSite makes a site with a chain already founded, and starts its PCs.
func newSite(t testing.TB, pcs int, extra map[string]string) *site {
	return newSiteOn(t, pcs, extra, nil)
}

// newSiteOn is newSite with a disk of its own for the share.
func newSiteOn(t testing.TB, pcs int, extra map[string]string, disk func(folder string)) *site {
	s := &site{t: t, lan: newLAN(t)}
	ns := s.lan.plug("server", serverIP, "02:00:00:00:00:fa")
	s.server = sambatest.Start(t, sambatest.Options{Host: serverIP, Port: 445, Wrap: []string{"ip", "netns", "exec", ns}, Disk: disk})
	s.url = sambatest.URL(serverIP, sambatest.Share, "socket")
	require.NoError(t, os.Mkdir(s.folder(), 0o777))
	s.chain = lease.NewChain(lease.NewDir(s.folder()))
	s.found()
	for i := range pcs {
		port := fmt.Sprintf("pc%d", i+1)
		p := &pc{s: s, port: port, station: fmt.Sprintf("POS-%02d", i+1), ip: fmt.Sprintf("%s%d", netPrefix, i+11), dir: filepath.Join(t.TempDir(), port)}
		p.ns = s.lan.plug(port, p.ip, fmt.Sprintf("02:00:00:00:00:%02x", i+1))
		p.configure(extra)
		s.pcs = append(s.pcs, p)
		t.Cleanup(p.PowerCut)
	}
	t.Cleanup(func() {
		if t.Failed() || *logs {
			t.Log(s.records())
			for _, p := range s.pcs {
				t.Log(p.tail())
			}
		}
	})
	for _, p := range s.pcs {
		p.Start()
	}
	s.settle()
	s.anyMoment()
	return s
}

func (s *site) folder() string { return filepath.Join(s.server.Folder, "socket") }

// found puts a chain in place, so that a new site need not wait until one that
// might have been there has run out.
func (s *site) found() { s.foundIn(s.chain, uuid.NewString()) }

// foundIn puts a chain with this share id into a folder.
func (s *site) foundIn(chain *lease.Chain, id string) {
	s.t.Helper()
	var err error
	s.codec, err = lease.NewCodec(kmsn, token)
	require.NoError(s.t, err)
	genesis, err := s.codec.Seal(lease.Record{
		Share: id, KMSN: kmsn, Station: "E2E", Rev: 1, Owner: lease.ID{Node: uuid.NewString(), Run: "000000000000"},
		Boot: "e2e", State: lease.Released, Reason: "new-chain", IP: serverIP, Port: 9530, PID: 1,
		TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
	})
	require.NoError(s.t, err)
	require.NoError(s.t, chain.Found(context.Background(), id, 1, genesis))
}

// head is the newest record on the server's disk.
func (s *site) head() (lease.Record, bool) {
	l, err := s.chain.List(context.Background())
	if err != nil || l.Share == "" {
		return lease.Record{}, false
	}
	body, err := s.chain.Read(context.Background(), l.Share, l.Head())
	if err != nil {
		return lease.Record{}, false
	}
	e := s.codec.Open(l.Share, l.Head(), body)
	return e.Record, e.Kind == lease.Valid
}

// records shows the chain with the times its files were written.
func (s *site) records() (text string) {
	files, _ := filepath.Glob(filepath.Join(s.folder(), "relay_leader.d", "*", "*.lock"))
	for _, f := range files {
		st, err := os.Stat(f)
		if err != nil {
			continue
		}
		body, _ := os.ReadFile(f)
		text += fmt.Sprintf("%s %s\n", st.ModTime().UTC().Format("15:04:05.000"), body)
	}
	return text
}

// settled reports whether one member leads with all others on its roster and
// its relay lives.
func (s *site) settled() bool {
	r, ok := s.head()
	return ok && r.State == lease.Held && len(r.Roster) == min(len(s.pcs)-1, lease.RosterMax) && s.living() == r.Station
}

// settle waits for that, until it has lasted a second: everybody has been told.
func (s *site) settle() { s.t.Helper(); s.settleFor(time.Second) }

func (s *site) settleFor(lasting time.Duration) {
	s.t.Helper()
	since := time.Now()
	s.await(60*time.Second, "the site does not settle", func() bool {
		if !s.settled() {
			since = time.Now()
		}
		return time.Since(since) > lasting
	})
}

// anyMoment waits for up to a RENEW, so that faults meet renewals at any phase,
// and settles again if a busy machine has unsettled the site meanwhile.
func (s *site) anyMoment() {
	s.t.Helper()
	time.Sleep(rand.N(3 * time.Second))
	s.settleFor(200 * time.Millisecond)
}

func (s *site) await(limit time.Duration, what string, done func() bool) {
	s.t.Helper()
	for begin := time.Now(); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > limit {
			r, _ := s.head()
			require.Fail(s.t, what, "after %v; head: rev %d %s of %s, roster %d; relay lives on %q", limit, r.Rev, r.State, r.Station, len(r.Roster), s.living())
		}
	}
}

// leader is the PC whose relay lives. A relay that a busy machine holds up for a
// moment lives all the same.
func (s *site) leader() *pc {
	s.t.Helper()
	station := ""
	s.await(8*time.Second, "no relay lives", func() bool { station = s.living(); return station != "" })
	for _, p := range s.pcs {
		if p.station == station {
			return p
		}
	}
	require.Fail(s.t, "a relay of nobody lives")
	return nil
}

// others are all PCs but one, and ports names them at the switch.
func (s *site) others(not *pc) (rest []*pc) {
	for _, p := range s.pcs {
		if p != not {
			rest = append(rest, p)
		}
	}
	return rest
}

func ports(pcs []*pc) (names []string) {
	for _, p := range pcs {
		names = append(names, p.port)
	}
	return names
}

// living is the station whose relay wrote its life log just now, or "".
func (s *site) living() string {
	now := clock.Boot()
	for _, p := range s.pcs {
		if at, ok := lastBeat(p.lifeLog()); ok && now-at < 100*time.Millisecond {
			return p.station
		}
	}
	return ""
}

// lives are the lives of all relays so far, by their own logs.
func (s *site) lives() (all []standin.Span) {
	for _, p := range s.pcs {
		spans, err := standin.ReadLife(p.lifeLog())
		if !errors.Is(err, os.ErrNotExist) {
			require.NoError(s.t, err)
		}
		all = append(all, spans...)
	}
	return all
}
