package gossip

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNew_RefusesConfigurations(t *testing.T) {
	busy, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer busy.Close()
	for name, c := range map[string]struct {
		change func(*Config)
		text   string
	}{
		"empty token":       {func(c *Config) { c.Token = "" }, "RELAY_TOKEN is empty"},
		"no KMSN":           {func(c *Config) { c.KMSN = "" }, "KMSN is empty"},
		"no run":            {func(c *Config) { c.Self.Run = "" }, "run id is empty"},
		"slash in node":     {func(c *Config) { c.Self.Node = "a/b" }, "slash"},
		"port out of range": {func(c *Config) { c.Port = 70000 }, "GOSSIP_PORT"},
		"address unset":     {func(c *Config) { c.AdvertiseAddr = "" }, "GOSSIP_ADVERTISE"},
		"address ::":        {func(c *Config) { c.AdvertiseAddr = "::" }, "IPv4"},
		"bind is a name":    {func(c *Config) { c.BindAddr = "pos" }, "GOSSIP_BIND"},
		"port taken":        {func(c *Config) { c.Port = busy.Addr().(*net.TCPAddr).Port }, "GOSSIP_PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(1)
			cfg.AdvertiseAddr, cfg.BindAddr = "127.0.0.1", "127.0.0.1"
			c.change(&cfg)
			_, err := New(cfg, &recorder{})
			require.ErrorContains(t, err, c.text)
		})
	}
}
