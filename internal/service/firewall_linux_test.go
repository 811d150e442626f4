package service

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpen(t *testing.T) {
	var lines []string
	for _, r := range Open(Ports{Gossip: 7946, Relay: 9530}) {
		lines = append(lines, r.String())
	}
	require.Equal(t, []string{
		`nft insert rule inet filter input udp dport 7946 accept comment '"floatrelay"'`,
		`nft insert rule inet filter input tcp dport 7946 accept comment '"floatrelay"'`,
		`nft insert rule inet filter input tcp dport 9530-9531 accept comment '"floatrelay"'`,
	}, lines)
}

func TestApply_SaysWhatFailed(t *testing.T) {
	mark := t.TempDir() + "/mark"
	err := Apply(t.Context(), []Rule{{"sh", "-c", "echo no such chain >&2; exit 3"}, {"touch", mark}})
	require.ErrorContains(t, err, "no such chain")
	require.ErrorContains(t, err, "root")
	require.NoFileExists(t, mark, "nothing after a failure")
}
