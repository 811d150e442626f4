package service

import (
	"os"
	"os/exec"
	"path/filepath"
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

func TestTakeBack_GoesOnAfterAFailure(t *testing.T) {
	mark := t.TempDir() + "/mark"
	err := TakeBack(t.Context(), []Rule{{"sh", "-c", "echo no such rule >&2; exit 3"}, {"touch", mark}})
	require.ErrorContains(t, err, "close the firewall")
	require.ErrorContains(t, err, "no such rule")
	require.FileExists(t, mark)
}

// nftStandIn lists a chain and notes what it is told to delete.
const nftStandIn = `#!/bin/sh
if [ "$1" = delete ]; then echo "$*" >>"$DELETED"; exit; fi
[ "$*" = "-a list chain inet filter input" ] || exit 1
[ -z "$NO_CHAIN" ] || { echo "Error: No such file or directory" >&2; exit 1; }
cat <<'END'
table inet filter {
	chain input { # handle 1
		type filter hook input priority filter; policy drop;
		tcp dport 9530-9531 accept comment "floatrelay" # handle 9
		tcp dport 7946 accept comment "floatrelay" # handle 8
		tcp dport 22 accept comment "not floatrelay" # handle 3
		udp dport 7946 accept comment "floatrelay" # handle 7
	}
}
END
`

// What closes the firewall, carried out and as it is printed, deletes the rules
// with our comment and no other.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nft"), []byte(nftStandIn), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	rules := Close(Ports{Gossip: 7946, Relay: 9530})
	require.Len(t, rules, 1)
	const want = "delete rule inet filter input handle 9\ndelete rule inet filter input handle 8\ndelete rule inet filter input handle 7\n"
	for name, run := range map[string]func() error{
		"carried out": func() error { return TakeBack(t.Context(), rules) },
		"typed":       func() error { return exec.CommandContext(t.Context(), "sh", "-c", rules[0].String()).Run() },
	} {
		t.Run(name, func(t *testing.T) {
			deleted := filepath.Join(t.TempDir(), "deleted")
			t.Setenv("DELETED", deleted)
			require.NoError(t, run())
			got, err := os.ReadFile(deleted)
			require.NoError(t, err)
			require.Equal(t, want, string(got))
		})
	}
	t.Run("no such chain", func(t *testing.T) {
		t.Setenv("NO_CHAIN", "1")
		require.ErrorContains(t, TakeBack(t.Context(), rules), "No such file or directory")
	})
}
