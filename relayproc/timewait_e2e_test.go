//go:build e2e

package relayproc

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// timeWaits lists the sockets that the system keeps in TIME_WAIT for port; with
// "-K" it ends them, as a minute's waiting would. That needs root and iproute2.
func timeWaits(t *testing.T, port int, flags ...string) []string {
	args := append(flags, "-tanH", "state", "time-wait", fmt.Sprintf("( sport = :%d )", port))
	out, err := exec.Command("ss", args...).CombinedOutput()
	require.NoError(t, err, "ss: %s", out)
	return strings.Fields(string(out))
}

// A killed relay ends its connections first, so that the system keeps their
// ends in TIME_WAIT once the clients have gone too: for a minute no program
// without SO_REUSEADDR can bind the port. The next start waits it out and
// counts no crash.
func TestTimeWait_IsWaitedOut(t *testing.T) {
	w, clients := killedWithClients(t)
	for _, c := range clients {
		c.Close()
	}
	require.Eventually(t, func() bool { return len(timeWaits(t, w.spec.Port)) > 0 }, 20*time.Second, 10*time.Millisecond)

	again := samePort(w)
	await[Waiting](again, nil)
	require.NotEmpty(t, timeWaits(t, w.spec.Port), "that was what it waited for")
	for _, ev := range again.seen() {
		require.IsNotType(t, Ready{}, ev)
		require.IsNotType(t, Down{}, ev)
	}
	timeWaits(t, w.spec.Port, "-K")
	await[Ready](again, nil)
	for _, ev := range again.seen() {
		require.IsNotType(t, Down{}, ev)
	}
}
