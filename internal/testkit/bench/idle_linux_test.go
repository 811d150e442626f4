package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localsite"
)

func TestProcessFigures(t *testing.T) {
	before := cpuOf(os.Getpid())
	for end := time.Now().Add(time.Minute); cpuOf(os.Getpid()) < before+30*time.Millisecond; {
		require.True(t, time.Now().Before(end), "a busy process uses no time")
	}
	require.Greater(t, rssOf(os.Getpid()), int64(1<<20))
	require.Zero(t, cpuOf(0))
	require.Zero(t, rssOf(0))
}

func TestSample_Since(t *testing.T) {
	a := sample{cpu: time.Second, net: localsite.Traffic{Sent: 10, SentBytes: 1000}}
	b := sample{cpu: 2 * time.Second, rss: 25e6, net: localsite.Traffic{Sent: 110, SentBytes: 21000, Received: 50, ReceivedBytes: 5000}}
	require.Equal(t, []string{"10.00", "25.0", "10.0", "5.0", "2.00", "0.50"}, b.since(a, 10))
}
