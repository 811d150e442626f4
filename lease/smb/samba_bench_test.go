//go:build e2e

package smb_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/sambatest"
	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/lease/smb"
)

// listed is how many records a listing shows: those of 80 s at FENCE/3.
const listed = 160

// BenchmarkLatency measures what a member does on a share, each with a record's
// size, on a folder of this machine and on Samba over loopback. It reports
// median and 99th percentile in milliseconds.
func BenchmarkLatency(b *testing.B) {
	body := bytes.Repeat([]byte("x"), lease.MaxBody)
	for _, kind := range []string{"dir", "smb"} {
		share := benchShare(b, kind)
		require.NoError(b, share.Mkdir(b.Context(), "chain"))
		for i := range listed {
			require.NoError(b, share.Create(b.Context(), fmt.Sprintf("chain/%010d.lock", i), body))
		}
		n := 0
		for name, call := range map[string]func() error{
			"create":  func() error { n++; return share.Create(b.Context(), fmt.Sprintf("r%010d.lock", n), body) },
			"read":    func() error { _, err := share.Read(b.Context(), "chain/0000000007.lock"); return err },
			"list":    func() error { _, err := share.List(b.Context(), "chain"); return err },
			"publish": func() error { return share.Replace(b.Context(), "view", body[:600]) },
		} {
			b.Run(kind+"/"+name, func(b *testing.B) { measure(b, call) })
		}
	}
}

func benchShare(b *testing.B, kind string) lease.Share {
	if kind == "dir" {
		return lease.NewDir(b.TempDir())
	}
	server := sambatest.Start(b, sambatest.Options{})
	require.NoError(b, os.Mkdir(filepath.Join(server.Folder, "socket"), 0o777))
	return open(b, server.URL("socket"), smb.Options{})
}

func measure(b *testing.B, call func() error) {
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		require.NoError(b, call())
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	ms := func(i int) float64 { return float64(took[i].Microseconds()) / 1000 }
	b.ReportMetric(ms(len(took)/2), "median-ms")
	b.ReportMetric(ms(len(took)*99/100), "p99-ms")
	b.ReportMetric(0, "ns/op")
}
