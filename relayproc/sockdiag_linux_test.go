package relayproc

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Both ways to find listeners must say the same of every kind of one.
func TestListeners_NetlinkSaysWhatProcSays(t *testing.T) {
	for _, c := range []struct {
		network, addr string
		table         int
	}{
		{"tcp4", "127.0.0.1:0", 0}, {"tcp4", "127.7.0.9:0", 0}, {"tcp4", "0.0.0.0:0", 0}, {"tcp6", "[::]:0", 1}, {"tcp6", "[::1]:0", 1},
	} {
		t.Run(c.network+" "+c.addr, func(t *testing.T) {
			l, err := listenAlone(c.network, c.addr)
			if c.table == 1 && err != nil {
				return // a host without IPv6
			}
			require.NoError(t, err)
			defer l.Close()
			at := l.Addr().(*net.TCPAddr)
			conn, err := net.Dial("tcp", net.JoinHostPort(dialAddr(at.IP.String()), strconv.Itoa(at.Port)))
			if err == nil { // a connection on the port is no listener
				defer conn.Close()
			}
			for i, table := range tcpTables {
				proc := listenersIn(table.path, at.Port)
				asked, err := askListeners(table.family, at.Port)
				require.NoError(t, err)
				require.Equal(t, proc, asked)
				if i == c.table {
					require.Len(t, asked, 1)
					require.True(t, asked[0].ip.Equal(at.IP))
					require.NotZero(t, asked[0].key)
				}
			}
		})
	}
}

// listenAlone listens on a port that nobody of this machine has at another address.
func listenAlone(network, addr string) (net.Listener, error) {
	for {
		l, err := net.Listen(network, addr)
		if err != nil || len(listeners(l.Addr().(*net.TCPAddr).Port)) == 1 {
			return l, err
		}
		defer l.Close() // it is not drawn again
	}
}

func TestListeners_TwoOnOnePort(t *testing.T) {
	a, err := listenAlone("tcp4", "127.7.0.1:0")
	require.NoError(t, err)
	defer a.Close()
	port := a.Addr().(*net.TCPAddr).Port
	b, err := net.Listen("tcp4", net.JoinHostPort("127.7.0.2", strconv.Itoa(port)))
	require.NoError(t, err)
	defer b.Close()
	ls := listeners(port)
	require.Len(t, ls, 2)
	require.NotEqual(t, ls[0].key, ls[1].key)
	b.Close()
	require.Len(t, listeners(port), 1)
	a.Close()
	require.Empty(t, listeners(port))
}

func TestReadDiag_RefusesWhatItDoesNotUnderstand(t *testing.T) {
	question := diagQuestion(unix.AF_INET, 9530)
	for name, b := range map[string][]byte{
		"an error":        append([]byte{20, 0, 0, 0, unix.NLMSG_ERROR, 0}, make([]byte, 14)...),
		"too short":       question[:diagHeader+4],
		"a cut socket":    append([]byte{20, 0, 0, 0, sockDiagByFamily, 0}, make([]byte, 14)...),
		"an absurd size":  append([]byte{1, 0, 0, 0, sockDiagByFamily, 0}, make([]byte, 14)...),
		"larger than all": append([]byte{255, 0, 0, 0, sockDiagByFamily, 0}, make([]byte, 14)...),
	} {
		t.Run(name, func(t *testing.T) {
			_, done, err := readDiag(b, 9530, nil)
			require.ErrorIs(t, err, errDiag)
			require.True(t, done)
		})
	}
	_, err := askListeners(255, 9530)
	require.Error(t, err, "a family nobody knows: the caller reads the table instead")
}
