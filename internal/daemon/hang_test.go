package daemon

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/logging"
	"github.com/convertfw/floatrelay/relayproc"
)

// silentServer accepts connections and never says a word, as a file server
// whose disk hangs. It returns its port and how many came.
func silentServer(t *testing.T) (port int, came *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	came = &atomic.Int32{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, came
}

// Starting asks nothing of the share, so that a service manager is answered at
// once; asked, the daemon answers, and it ends when told to, all while the
// share hangs.
func TestCaseE02_StartWhileTheShareHangs(t *testing.T) {
	port, came := silentServer(t)
	dir := t.TempDir()
	log, err := logging.New(logging.Options{Console: io.Discard})
	require.NoError(t, err)
	defer log.Close()
	cfg := config.Config{
		KMSN: "4711", Station: "POS-01", Token: newToken, SMBPassword: "x",
		LeaseDir: "smb://relay@127.0.0.1:" + strconv.Itoa(port) + "/pos/socket",
		LeaseTTL: 10 * time.Second, LeaseRenew: 3 * time.Second, LeasePoll: 2 * time.Second,
		LeaseFence: 1500 * time.Millisecond, LeaseBeat: 250 * time.Millisecond,
		RelayPort: 9530, RelayPriority: 100, RelayStartTimeout: time.Minute, RelayPing: "tcp",
		GossipBind: "127.0.0.1", GossipAdvertise: "127.0.0.1", APIAddr: "127.0.0.1:0",
		StateDir: filepath.Join(dir, "state"),
	}
	begun := time.Now()
	d, err := New(cfg, Options{Version: "test", Log: log, Guard: relayproc.Command{Path: "/nowhere"}})
	require.NoError(t, err)
	defer d.Close()
	require.Less(t, time.Since(begun), slack)
	require.Zero(t, came.Load(), "the share was asked")
	addr := d.api.ln.Addr().String()

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	c, err := localapi.NewClient(addr, "")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return came.Load() > 0 }, slack, 10*time.Millisecond, "now it is")
	var st localapi.Status
	require.Eventually(t, func() bool { // a busy machine may let one question wait for too long
		st, err = c.Status(t.Context())
		return err == nil
	}, slack, 10*time.Millisecond)
	require.Equal(t, "ineligible", st.Role)
	require.EqualValues(t, -1, st.Share.LastOKMS)
	require.Eventually(t, func() bool {
		_, err := c.History(t.Context())
		return err == nil
	}, slack, 10*time.Millisecond)

	begun = time.Now()
	cancel()
	require.NoError(t, <-ended, "it does not wait for the share until its patience ends")
	require.Less(t, time.Since(begun), slack)
}
