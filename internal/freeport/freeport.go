// Package freeport finds ports for stations of this machine only: demos and tests.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports are drawn from a range that no system hands out by itself: a port that
// was free a moment ago would otherwise soon be the end of some connection.
const (
	lowPort  = 10_000
	highPort = 32_000
)

var (
	drawnMu sync.Mutex
	drawn   = map[int]bool{} // by this process
)

// Pairs returns the first ports of n pairs of neighbours that are free on
// 127.0.0.1, TCP and UDP, none of which it returned before. Another process may
// still take one before it is used.
func Pairs(n int) ([]int, error) {
	drawnMu.Lock()
	defer drawnMu.Unlock()
	var out []int
	for range 100 * n {
		port := lowPort + 2*rand.IntN((highPort-lowPort)/2)
		if drawn[port] || !free(port) || !free(port+1) {
			continue
		}
		drawn[port] = true
		if out = append(out, port); len(out) == n {
			return out, nil
		}
	}
	return nil, errors.New("find free ports on 127.0.0.1: none left")
}

func free(port int) bool {
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return false
	}
	_ = l.Close()
	u, err := net.ListenPacket("udp", addr)
	if err != nil {
		return false
	}
	_ = u.Close()
	return true
}
