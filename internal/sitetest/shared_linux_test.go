package sitetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
)

// A second listener creeps in beside a relay that lets it. It is named with its
// pid in status, in NOTE as the other PC sees it, and in the log; the lease
// goes to the other PC.
func TestSecondListenerIsNamed(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Nodes: 2, Extra: quick(), RelayArgs: "-share-port"})
	s.roster(1)
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		cerr := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		if cerr != nil {
			return cerr
		}
		return err
	}}
	l, err := lc.Listen(context.Background(), "tcp", net.JoinHostPort(n.Addr, strconv.Itoa(n.RelayPort)))
	require.NoError(t, err)
	defer l.Close()
	named := fmt.Sprintf("held by pid %d", os.Getpid())
	other, again := s.leader(st.Epoch, quickTTL+2*slack)
	require.NotEqual(t, n.Station, other.Station)
	s.stays(other, again.Epoch, quickTTL/2)
	s.status(n, "names the second listener", func(x localapi.Status) bool { return strings.Contains(x.Note, named) })
	s.member(other, n, "shows the second listener", func(m localapi.Member) bool { return strings.Contains(m.Note, named) })
	s.logs(n, "also "+named)
}
