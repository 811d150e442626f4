package sitetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localsite"
)

// residentMB is a process's resident memory in MB.
func residentMB(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			require.NoError(t, err)
			return kb >> 10
		}
	}
	require.Fail(t, "no VmRSS", "%s", b)
	return 0
}

// pour sends one connection after the other that announces 20 MB and then does
// send that much, until ctx ends.
func pour(ctx context.Context, from net.IP, to string, head []byte) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: time.Second}
	chunk := make([]byte, 256<<10)
	for ctx.Err() == nil {
		c, err := d.DialContext(ctx, "tcp4", to)
		if err != nil {
			continue
		}
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		_, err = c.Write(head)
		for sent := 0; err == nil && sent < 20<<20; sent += len(chunk) {
			_, err = c.Write(chunk)
		}
		stop()
		_ = c.Close()
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// Somebody without the token, who has seen one packet of the site, keeps 256
// connections busy with messages of 20 MB each, to the leader and to another.
func TestHole13_MemoryStaysSmall(t *testing.T) {
	s, n, st := start(t, localsite.Options{Switched: true, Extra: steady()})
	s.roster(2)
	stop := opsCapture(s)
	time.Sleep(500 * time.Millisecond)
	packets := stop()
	require.NotEmpty(t, packets)
	label := packets[0].data[:2+int(packets[0].data[1])] // in the clear before each packet
	head := binary.BigEndian.AppendUint32(append(label[:len(label):len(label)], 10), 20<<20)

	victims := []*localsite.Node{n, s.others(n)[0]}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for i, v := range victims {
		for k := range 128 {
			wg.Go(func() {
				pour(ctx, net.IPv4(127, 9, byte(1+i), byte(1+k/8)), net.JoinHostPort(v.Addr, strconv.Itoa(v.GossipPort)), head)
			})
		}
	}
	most := 0
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		for _, v := range victims {
			most = max(most, residentMB(t, v.PID()))
		}
	}
	t.Logf("resident at most %d MB", most)
	require.LessOrEqual(t, most, 100)
	s.stays(n, st.Epoch, time.Second)
	s.roster(2)
}
