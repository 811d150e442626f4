package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/logging"
	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/relayproc"
)

// slack is what a busy machine may add to anything.
const slack = 20 * time.Second

// tried is a daemon in this process, with a real guard and a stand-in relay.
type tried struct {
	*Daemon
	t     *testing.T
	cfg   config.Config
	stop  context.CancelFunc
	ended chan error
}

// newShare is a folder with a new chain.
func newShare(t *testing.T) string {
	dir := t.TempDir()
	t.Cleanup(func() { // what was under way on the share when a daemon ended may still be
		require.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, slack, 20*time.Millisecond)
	})
	codec, err := lease.NewCodec("4711", "token")
	require.NoError(t, err)
	id := uuid.NewString()
	genesis, err := codec.Seal(lease.Record{
		Share: id, KMSN: "4711", Station: "FIRST", Rev: 1, Owner: lease.ID{Node: uuid.NewString(), Run: "000000000000"},
		Boot: "b", State: lease.Released, Reason: "new-chain", IP: "127.0.0.1", Port: 9530, PID: 1,
		TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
	})
	require.NoError(t, err)
	require.NoError(t, lease.NewChain(lease.NewDir(dir)).Found(t.Context(), id, 1, genesis))
	return dir
}

// configFor is a PC whose lease outlives a machine that stands still for a few
// seconds: no test here waits for FENCE or TTL.
func configFor(t *testing.T, station, share string) config.Config {
	exe, err := os.Executable()
	require.NoError(t, err)
	return config.Config{
		KMSN: "4711", Station: station, Token: "token", LeaseDir: share,
		LeaseTTL: lease.TTLMax, LeaseRenew: time.Second, LeasePoll: 500 * time.Millisecond,
		LeaseFence: 6 * time.Second, LeaseBeat: 200 * time.Millisecond,
		RelayExe: exe, RelayArgs: []string{"standin", "-listen", "0.0.0.0"}, RelayPort: freePair(t),
		RelayStartTimeout: 20 * time.Second, RelayPing: "tcp", RelayPriority: 100,
		GossipPort: freePair(t), GossipBind: "0.0.0.0", GossipAdvertise: "127.0.0.1",
		APIAddr: "127.0.0.1:0", StateDir: filepath.Join(t.TempDir(), "state"), LogLevel: "debug",
	}
}

// begin starts a daemon and ends it with the test.
func begin(t *testing.T, cfg config.Config, find func(context.Context) (string, error)) *tried {
	t.Helper()
	return beginLogged(t, cfg, find, t.Output())
}

// beginLogged is begin with a log of one's own.
func beginLogged(t *testing.T, cfg config.Config, find func(context.Context) (string, error), out io.Writer) *tried {
	t.Helper()
	log, err := logging.New(logging.Options{Level: "debug", Console: out})
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	d, err := New(cfg, Options{
		Version: "test", Log: log, find: find,
		Guard: relayproc.Command{Path: exe, Args: []string{relayproc.GuardArg}},
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	x := &tried{Daemon: d, t: t, cfg: cfg, stop: stop, ended: make(chan error, 1)}
	go func() { x.ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		x.end()
		log.Close()
	})
	return x
}

// end stops the daemon, once, and returns what Run returned.
func (x *tried) end() (err error) {
	if x.stop == nil {
		return nil
	}
	x.stop()
	x.stop = nil
	select {
	case err = <-x.ended:
	case <-time.After(stopPatience + slack):
		x.t.Error("the daemon does not end")
	}
	x.Close()
	return err
}

// until returns the first status that fits. What else is demanded of that moment
// belongs into fits, or may be asserted of the result; a later look may see more.
func (x *tried) until(what string, fits func(localapi.Status) bool) (s localapi.Status) {
	x.t.Helper()
	require.Eventually(x.t, func() bool { s = x.Status(); return fits(s) }, 2*slack, 20*time.Millisecond, what)
	return s
}

func leads(s localapi.Status) bool   { return s.Role == "leader" && s.Relay.State == "running" }
func follows(s localapi.Status) bool { return s.Role == "client" && s.Leader != "" }

func TestDaemon_Handoff(t *testing.T) {
	share := newShare(t)
	a := begin(t, configFor(t, "POS-01", share), nil)
	a.until("leads", leads)
	require.ErrorContains(t, a.Handoff(t.Context(), ""), "nobody else is eligible")
	require.ErrorContains(t, a.Handoff(t.Context(), "POS-77"), "no member is called POS-77")

	cfg := configFor(t, "POS-02", share)
	cfg.GossipPeers = []string{net.JoinHostPort("127.0.0.1", strconv.Itoa(a.cfg.GossipPort))}
	cfg.RelayPriority = 0
	never := begin(t, cfg, nil)
	cfg = configFor(t, "POS-03", share)
	cfg.GossipPeers = never.cfg.GossipPeers
	b := begin(t, cfg, nil)
	b.until("follows", follows)
	require.ErrorContains(t, b.Handoff(t.Context(), ""), "run it on POS-01 (127.0.0.1)")
	b.until("compares the leader's clock: both run on this machine", func(s localapi.Status) bool {
		return s.Clock != nil && s.Clock.Station == "POS-01" && max(s.Clock.SkewMS, -s.Clock.SkewMS) < 15_000
	})
	require.Nil(t, a.Status().Clock, "it leads itself")
	require.Eventually(t, func() bool {
		err := a.Handoff(t.Context(), "pos-02")
		return err != nil && err.Error() == "pos-02 cannot take over: it is alive, RELAY_PRIORITY is 0"
	}, 2*slack, 50*time.Millisecond)
	require.True(t, leads(a.Status()), "a refused handoff changes nothing")

	require.Eventually(t, func() bool { return a.Handoff(t.Context(), b.self.String()) == nil }, 2*slack, 50*time.Millisecond)
	b.until("leads", leads)
	a.until("follows the new leader", func(s localapi.Status) bool {
		l, ok := a.Leader()
		return follows(s) && s.Leader == b.self.String() && ok && l.Station == "POS-03"
	})
}

func TestDaemon_DrainSurvivesARestart(t *testing.T) {
	cfg := configFor(t, "POS-01", newShare(t))
	a := begin(t, cfg, nil)
	a.until("leads", leads)
	require.NoError(t, a.Drain(t.Context(), true))
	drained := func(s localapi.Status) bool { return !s.Eligible && strings.Contains(s.Note, "drained by hand") }
	a.until("is drained", drained)
	require.NoError(t, a.end())
	a = begin(t, cfg, nil)
	a.until("is still drained", func(s localapi.Status) bool { return drained(s) && s.Share.State == "ok" && s.Role == "ineligible" })
	require.NoError(t, a.Drain(t.Context(), false))
	a.until("leads again", leads)
}

// The host gets another address by DHCP: the others find it there, and the
// leader's records say so.
func TestDaemon_FollowsItsAddress(t *testing.T) {
	var addr atomic.Pointer[string]
	var cut atomic.Int32 // looks that found no address
	one, two := "127.0.0.1", "127.0.0.2"
	addr.Store(&one)
	share := newShare(t)
	cfg := configFor(t, "POS-01", share)
	a := begin(t, cfg, func(context.Context) (string, error) {
		if p := addr.Load(); p != nil {
			return *p, nil
		}
		cut.Add(1)
		return "", errors.New("the cable is out")
	})
	st := a.until("leads", leads)
	cfg = configFor(t, "POS-02", share)
	cfg.GossipPeers = []string{net.JoinHostPort(one, strconv.Itoa(a.cfg.GossipPort))}
	b := begin(t, cfg, nil)
	seenBy := func(at string) func() bool {
		return func() bool {
			for _, m := range b.Members().Members {
				if m.Station == "POS-01" && m.State == localapi.StateAlive {
					return m.Addr == net.JoinHostPort(at, strconv.Itoa(a.cfg.GossipPort))
				}
			}
			return false
		}
	}
	require.Eventually(t, seenBy(one), 2*slack, 50*time.Millisecond)

	addr.Store(nil)
	// The second look begins after all that came of the first.
	require.Eventually(t, func() bool { return cut.Load() > 1 }, 2*addressEvery+slack, 50*time.Millisecond)
	require.Equal(t, one, a.address(), "without an address it stays where it was")
	addr.Store(&two)
	require.Eventually(t, seenBy(two), 2*slack, 50*time.Millisecond, "the other member finds it at its new address")
	require.Eventually(t, func() bool {
		l, ok := b.Leader()
		return ok && l.Station == "POS-01" && l.IP == two && l.Ready
	}, 2*slack, 50*time.Millisecond, "clients are told the new address")
	require.Equal(t, st.Epoch, a.Status().Epoch, "moving is no failover")
}

// The share goes away while the daemon is told to end: it ends in bounded time
// and leaves no relay behind.
func TestDaemon_EndsWithoutTheShare(t *testing.T) {
	share := newShare(t)
	cfg := configFor(t, "POS-01", share)
	a := begin(t, cfg, nil)
	a.until("leads", leads)
	require.NoError(t, os.Rename(share, share+".away"))
	t.Cleanup(func() { _ = os.Rename(share+".away", share) })
	began := time.Now()
	err := a.end()
	t.Logf("ended after %v: %v", time.Since(began), err)
	require.Less(t, time.Since(began), stopPatience+slack)
	require.NoError(t, relayproc.WaitLock(t.Context(), filepath.Join(cfg.StateDir, "guard.lock")))
	for _, port := range []int{cfg.RelayPort, cfg.RelayPort + 1} {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		require.NoError(t, err, "a port of the relay is still held")
		require.NoError(t, l.Close())
	}
}
