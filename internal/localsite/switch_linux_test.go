package localsite

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long a busy machine may take for anything here.
const patience = 20 * time.Second

// ends are the private sockets of two nodes behind a switch.
type ends struct {
	w   *Switch
	udp []*net.UDPConn
	tcp []*net.TCPListener
}

func newEnds(t *testing.T) *ends {
	s, err := New(Options{Nodes: 2, Dir: t.TempDir(), Switched: true})
	require.NoError(t, err)
	e := &ends{w: s.Switch}
	for i := range 2 {
		u, err := net.ListenUDP("udp4", e.w.udpAddr(e.w.private(i)))
		require.NoError(t, err)
		l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.ParseIP(e.w.private(i)), Port: e.w.Port})
		require.NoError(t, err)
		e.udp, e.tcp = append(e.udp, u), append(e.tcp, l)
	}
	t.Cleanup(func() {
		for i := range 2 {
			_, _ = e.udp[i].Close(), e.tcp[i].Close()
		}
		require.NoError(t, s.Close())
	})
	return e
}

// send sends a datagram from one node to the other's public address and
// returns what arrived, and from where, within d.
func (e *ends) send(t *testing.T, from, to int, text string, d time.Duration) (got, src string) {
	_, err := e.udp[from].WriteToUDP([]byte(text), e.w.udpAddr(e.w.public(to)))
	require.NoError(t, err)
	require.NoError(t, e.udp[to].SetReadDeadline(time.Now().Add(d)))
	buf := make([]byte, 100)
	n, a, err := e.udp[to].ReadFromUDP(buf)
	if err != nil {
		return "", ""
	}
	return string(buf[:n]), a.String()
}

func TestSwitch_Datagrams(t *testing.T) {
	e := newEnds(t)
	got, src := e.send(t, 0, 1, "hello", patience)
	require.Equal(t, "hello", got)
	require.Equal(t, e.w.udpAddr(e.w.public(0)).String(), src, "answers go through the switch too")
	e.w.CutOneWay(0, 1)
	got, _ = e.send(t, 0, 1, "lost", 200*time.Millisecond)
	require.Empty(t, got)
	got, _ = e.send(t, 1, 0, "the other way", patience)
	require.Equal(t, "the other way", got)
	e.w.Heal()
	got, _ = e.send(t, 0, 1, "again", patience)
	require.Equal(t, "again", got)
	tr := e.w.Traffic(0)
	require.EqualValues(t, 2, tr.Sent)
	require.EqualValues(t, len("hello")+len("again"), tr.SentBytes)
	require.EqualValues(t, 1, tr.Received)
}

// A cut holds streams up and tells neither end; what was held comes when it is
// healed.
func TestSwitch_Streams(t *testing.T) {
	e := newEnds(t)
	c, err := net.Dial("tcp4", e.w.udpAddr(e.w.public(1)).String())
	require.NoError(t, err)
	defer c.Close()
	up, err := e.tcp[1].Accept()
	require.NoError(t, err)
	defer up.Close()
	read := func(d time.Duration) string {
		require.NoError(t, up.SetReadDeadline(time.Now().Add(d)))
		buf := make([]byte, 100)
		n, err := up.Read(buf)
		require.NotErrorIs(t, err, io.EOF)
		return string(buf[:n])
	}
	_, err = c.Write([]byte("one"))
	require.NoError(t, err)
	require.Equal(t, "one", read(patience))
	e.w.CutAll()
	_, err = c.Write([]byte("two"))
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).CloseWrite())
	require.Empty(t, read(300*time.Millisecond))
	e.w.Heal()
	require.Equal(t, "two", read(patience))
	require.NoError(t, up.SetReadDeadline(time.Now().Add(patience)))
	_, err = up.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
}

func TestSwitch_RefusesForANodeThatIsOff(t *testing.T) {
	e := newEnds(t)
	require.NoError(t, e.tcp[1].Close())
	c, err := net.DialTimeout("tcp4", e.w.udpAddr(e.w.public(1)).String(), patience)
	if err == nil { // the refusal may also come while the connection is made
		defer c.Close()
		require.NoError(t, c.SetReadDeadline(time.Now().Add(patience)))
		_, err = c.Read(make([]byte, 1))
	}
	require.Error(t, err)
	var timeout net.Error
	require.False(t, errors.As(err, &timeout) && timeout.Timeout(), "the dialer is not told")
}
