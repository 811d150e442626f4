package daemon

import (
	"context"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/lease"
)

// noRace demands that no file of a race is left, once whoever was asked to take
// part has tidied up as well: what it creates late outlives the asker's.
func noRace(t *testing.T, dir string) {
	t.Helper()
	require.Eventually(t, func() bool {
		names, err := os.ReadDir(dir)
		return err == nil && !slices.ContainsFunc(names, func(n os.DirEntry) bool { return strings.HasPrefix(n.Name(), lease.TempPrefix) })
	}, raceOver+slack, 50*time.Millisecond, "a file of a race is left in %s", dir)
}

func TestDaemon_Survey(t *testing.T) {
	share := newShare(t)
	a := begin(t, configFor(t, "POS-01", share), nil)
	st := a.until("leads", leads)
	cfg := configFor(t, "POS-02", share)
	cfg.GossipPeers = []string{net.JoinHostPort("127.0.0.1", strconv.Itoa(a.cfg.GossipPort))}
	b := begin(t, cfg, nil)
	b.until("follows", follows)

	var got localapi.Survey
	require.Eventually(t, func() bool { // the other's meta may be a moment late, and so may an answer
		var err error
		got, err = b.Survey(t.Context())
		if err != nil || got.Race == nil || got.Race.Error != "" || len(got.Members) != 1 {
			return false
		}
		m := got.Members[0]
		return m.Answered && m.UDPOut && m.UDPBack && m.TCPOut && m.TCPBack
	}, 2*slack, 100*time.Millisecond)
	require.Equal(t, "POS-02", got.Station)
	require.Equal(t, st.Share.ID, got.Share)
	m := got.Members[0]
	require.Equal(t, "POS-01", m.Station)
	require.Equal(t, st.Share.ID, m.Share)
	require.Less(t, float64(max(m.SkewMS, -m.SkewMS)), m.RTT+5)
	require.Equal(t, localapi.Race{With: "POS-01", Rounds: lease.RaceRounds}, *got.Race)
	noRace(t, share)
	require.Equal(t, st.Epoch, a.Status().Epoch, "nothing of it disturbs the leader")

	b.surveys.busy <- struct{}{}
	_, err := b.Survey(t.Context())
	require.ErrorIs(t, err, errSurveying)
	<-b.surveys.busy
}

// A share that hangs keeps at most a few calls waiting, and later ones are
// refused at once.
func TestSurveys_AShareThatHangs(t *testing.T) {
	gate := &faulty.Gate{}
	gate.Close()
	dir := t.TempDir()
	s := newSurveys(func() (lease.Share, error) { return deafShare{faulty.New(lease.NewDir(dir), faulty.Stall(gate))}, nil })
	ended := make(chan error, 10)
	for range shareLanes {
		go func() { _, err := s.race(t.Context(), lease.NewRace()); ended <- err }()
	}
	require.Eventually(t, func() bool { return len(s.lanes) == shareLanes }, slack, time.Millisecond)
	_, err := s.race(t.Context(), lease.NewRace())
	require.ErrorIs(t, err, lease.ErrUnavailable)
	begin := time.Now()
	s.end(t.Context(), lease.NewRace())
	require.Less(t, time.Since(begin), raceEndTime+slack, "the share hangs until the gate opens")
	gate.Open()
	for range shareLanes {
		require.NoError(t, <-ended)
	}
}

// deafShare does not listen to its context, as a mounted folder.
type deafShare struct{ lease.Share }

func (d deafShare) Create(_ context.Context, name string, body []byte) error {
	return d.Share.Create(context.Background(), name, body)
}
