package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestForward_Keys(t *testing.T) {
	c := read(t, "FORWARD_PORT=9540\nFORWARD_HOLD=2\nFORWARD_FALLBACK=yes\nFORWARD_IDLE=1h\nRELAY_HOST=relay.example.com\n").Config
	require.Equal(t, 9540, c.ForwardPort)
	require.Equal(t, 2*time.Second, c.ForwardHold)
	require.True(t, c.ForwardFallback)
	require.Equal(t, time.Hour, c.ForwardIdle)
	host, port := c.ForwardTo()
	require.Equal(t, "relay.example.com", host)
	require.Equal(t, 9530, port, "RELAY_PORT, as 'leader --fallback' has it")
	c.RelayHost = "10.0.0.5:7000"
	_, port = c.ForwardTo()
	require.Equal(t, 7000, port)
	require.Zero(t, read(t, "LEASE_TTL=10\n").Config.ForwardPort, "off by default")
}

// The forwarder must not take what another part of this PC listens on: on the
// leading PC programs would reach themselves.
func TestForward_PortsOfItsOwn(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"FORWARD_PORT=9530", "a port of the relay"},
		{"FORWARD_PORT=9531\nAPI_ADDR=127.0.0.1:9600", "a port of the relay"},
		{"FORWARD_PORT=9529", "a port of the relay"},
		{"FORWARD_PORT=9532", "the port of the local HTTP interface"},
		{"FORWARD_PORT=7945", "the port of the members"},
		{"FORWARD_PORT=7946", "the port of the members"},
	} {
		_, p := refuse(t, c.text+"\n")
		require.Len(t, p, 1, c.text)
		require.Contains(t, p.Error(), c.want, c.text)
		require.Contains(t, p.Error(), "FORWARD_PORT=", c.text)
	}
	read(t, "FORWARD_PORT=9533\n")
	read(t, "FORWARD_PORT=9528\n")
	_, p := refuse(t, "FORWARD_PORT=65535\n")
	require.Contains(t, p.Error(), "out of range")
	_, p = refuse(t, "FORWARD_PORT=x\nRELAY_PORT=9540\n")
	require.Len(t, p, 1, "a key that was refused takes part in no relation")
}

func TestForward_FallbackNeedsSomewhereToLead(t *testing.T) {
	_, p := refuse(t, "FORWARD_PORT=9540\nFORWARD_FALLBACK=1\n")
	require.Contains(t, p.Error(), "FORWARD_FALLBACK=1 has nowhere to lead programs")
	for _, host := range []string{"127.0.0.1:9540", "localhost:9541", "[::1]:9540", "127.0.0.2:9539"} {
		_, p = refuse(t, "FORWARD_PORT=9540\nFORWARD_FALLBACK=1\nRELAY_HOST="+host+"\n")
		require.Contains(t, p.Error(), "would lead the forwarder to itself", host)
	}
	read(t, "FORWARD_PORT=9540\nFORWARD_FALLBACK=1\nRELAY_HOST=10.0.0.5:9540\n")
	read(t, "FORWARD_FALLBACK=1\n") // without a forwarder it says nothing
}
