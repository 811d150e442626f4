package service

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpen(t *testing.T) {
	rules := Open(Ports{Gossip: 7946, Relay: 9530})
	require.Len(t, rules, 3)
	require.Equal(t, `netsh advfirewall firewall add rule name="floatrelay gossip UDP" dir=in action=allow protocol=UDP localport=7946 remoteip=localsubnet profile=any`, rules[0].String())
	require.Contains(t, rules[2].String(), "localport=9530,9531")
	require.Len(t, Close(Ports{}), 3)
}

func TestDescribe_QuotesPaths(t *testing.T) {
	text := Describe(Plan{Exe: abs("floatrelay.exe"), Config: abs("stk.ini")}).String()
	require.Contains(t, text, `"C:\STK 功\floatrelay.exe" run --config "C:\STK 功\stk.ini" --managed`)
}
