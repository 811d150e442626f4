package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
)

func TestStatus_Forward(t *testing.T) {
	for want, f := range map[string]localapi.ForwardStatus{
		"127.0.0.1:9540 leads to POS-02 at 192.168.1.12:9530, epoch 7: 3 connected": {
			Port: 9540, To: "POS-02 at 192.168.1.12:9530, epoch 7", Open: 3},
		"127.0.0.1:9540 leads nowhere: nobody leads, 2 waiting, 1 on RELAY_HOST": {Port: 9540, Held: 2, Fallback: 1},
		"127.0.0.1:9540 leads nowhere: nobody leads; port 9540 cannot be had":    {Port: 9540, Problem: "port 9540 cannot be had\x1b"},
	} {
		s := station()
		s.status.Forward = &f
		require.Contains(t, cli(t, "status", "--api", serving(t, s)).out, "Programs  "+want)
	}
	require.NotContains(t, cli(t, "status", "--api", serving(t, station())).out, "Programs")
}
