package sitetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mistake is one thing a user can get wrong in stk.ini. The file is a good one
// plus line; the answer must hold all of want.
type mistake struct {
	name string
	line string // appended as line 7
	env  string // or set in the environment
	want []string
}

var mistakes = []mistake{
	{"TTL too large", "LEASE_TTL=99", "", []string{":7: LEASE_TTL=99 ", "3s to 20s"}},
	{"TTL too small", "LEASE_TTL=1", "", []string{":7: LEASE_TTL=1 ", "3s to 20s"}},
	{"TTL in words", "LEASE_TTL=fifteen", "", []string{":7: LEASE_TTL=fifteen ", "3s to 20s"}},
	{"TTL with a unit of another world", "LEASE_TTL=15 seconds", "", []string{":7: LEASE_TTL=15 seconds ", "allowed: "}},
	{"negative", "LEASE_RENEW=-1", "", []string{":7: LEASE_RENEW=-1 ", "allowed: "}},
	{"RENEW against TTL", "LEASE_RENEW=5", "", []string{":7: LEASE_RENEW=5s ", "LEASE_TTL"}},
	{"FENCE too short", "LEASE_FENCE=100ms", "", []string{":7: LEASE_FENCE=100ms ", "300ms"}},
	{"FENCE against TTL", "LEASE_FENCE=5s", "", []string{":7: LEASE_FENCE=5s ", "LEASE_TTL"}},
	{"BEAT against FENCE", "LEASE_BEAT=1s", "", []string{":7: LEASE_BEAT=1s ", "LEASE_FENCE"}},
	{"POLL zero", "LEASE_POLL=0", "", []string{":7: LEASE_POLL=0 ", "allowed: "}},
	{"LEASE_DIR relative", "LEASE_DIR=socket", "", []string{":7: LEASE_DIR=socket ", "allowed: "}},
	{"LEASE_DIR of a web server", "LEASE_DIR=http://server/share", "", []string{":7: LEASE_DIR=http://server/share ", "allowed: "}},
	{"RELAY_PORT in words", "RELAY_PORT=abc", "", []string{":7: RELAY_PORT=abc ", "1 to 65534"}},
	{"RELAY_PORT that leaves no room for video", "RELAY_PORT=65535", "", []string{":7: RELAY_PORT=65535 ", "1 to 65534"}},
	{"RELAY_EXE in quotes", `RELAY_EXE="C:\Program Files\relay.exe"`, "", []string{":7: RELAY_EXE=", "quotes"}},
	{"RELAY_PING unknown", "RELAY_PING=icmp", "", []string{":7: RELAY_PING=icmp ", "tcp", "hello"}},
	{"RELAY_PRIORITY too high", "RELAY_PRIORITY=5000", "", []string{":7: RELAY_PRIORITY=5000 ", "0 to 1000"}},
	{"RELAY_PREEMPT in words", "RELAY_PREEMPT=maybe", "", []string{":7: RELAY_PREEMPT=maybe ", "allowed: "}},
	{"RELAY_START_TIMEOUT zero", "RELAY_START_TIMEOUT=0", "", []string{":7: RELAY_START_TIMEOUT=0 ", "1s to 10m"}},
	{"RELAY_HOST with a scheme", "RELAY_HOST=http://x/", "", []string{":7: RELAY_HOST=http://x/ ", "host:port"}},
	{"GOSSIP_PORT of the relay", "GOSSIP_PORT=9530", "", []string{":7: GOSSIP_PORT=9530 ", "RELAY_PORT"}},
	{"GOSSIP_PORT too large", "GOSSIP_PORT=70000", "", []string{":7: GOSSIP_PORT=70000 ", "1 to 65535"}},
	{"GOSSIP_BIND is a name", "GOSSIP_BIND=pos-01", "", []string{":7: GOSSIP_BIND=pos-01 ", "IP address"}},
	{"GOSSIP_ADVERTISE of nobody", "GOSSIP_ADVERTISE=0.0.0.0", "", []string{":7: GOSSIP_ADVERTISE=0.0.0.0 ", "IPv4"}},
	{"GOSSIP_PEERS with a bad port", "GOSSIP_PEERS=pos-01:x", "", []string{":7: GOSSIP_PEERS=pos-01:x ", "host"}},
	{"API_ADDR for everybody", "API_ADDR=0.0.0.0:9532", "", []string{":7: API_ADDR=0.0.0.0:9532 ", "loopback"}},
	{"API_ADDR of the relay", "API_ADDR=127.0.0.1:9531", "", []string{":7: API_ADDR=127.0.0.1:9531 ", "RELAY_PORT"}},
	{"STATE_DIR relative", "STATE_DIR=state", "", []string{":7: STATE_DIR=state ", "allowed: "}},
	{"LOG_LEVEL unknown", "LOG_LEVEL=loud", "", []string{":7: LOG_LEVEL=loud ", "debug", "error"}},
	{"KMSN given as a list", "KMSN=" + strings.Repeat("4711,", 40), "", []string{":7: KMSN=4711,", "allowed: "}},
	{"from the environment", "", "FLOATRELAY_LEASE_TTL=99", []string{"environment: FLOATRELAY_LEASE_TTL=99 ", "3s to 20s"}},
}

// Every mistake ends in one line that names file, line, key, value and what is
// allowed, and exit code 2. Nothing is started.
func TestMistakesInTheConfiguration(t *testing.T) {
	t.Parallel()
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			text := goodINI(t) + m.line + "\r\n"
			file, problem := refused(t, text, m.env)
			if m.env == "" {
				require.True(t, strings.HasPrefix(problem, "floatrelay: "+file+":7: "), problem)
			}
			for _, part := range m.want {
				require.Contains(t, problem, part)
			}
		})
	}
}

// What is missing has no line; the file and the key are named.
func TestMissingInTheConfiguration(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"KMSN", "STATION", "RELAY_TOKEN"} {
		t.Run(key, func(t *testing.T) {
			var kept []string
			for _, line := range strings.Split(goodINI(t), "\r\n") {
				if !strings.HasPrefix(line, key+"=") {
					kept = append(kept, line)
				}
			}
			file, problem := refused(t, strings.Join(kept, "\r\n"), "")
			require.Contains(t, problem, file)
			require.Contains(t, problem, key)
		})
	}
	for name, text := range map[string]string{
		"empty": "", "only NUL bytes": strings.Repeat("\x00", 512), "no key at all": "hello\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			file, problem := refused(t, text, "")
			require.Contains(t, problem, file)
			require.Contains(t, problem, "damaged")
		})
	}
	t.Run("no file", func(t *testing.T) {
		code, out := run2(t, filepath.Join(t.TempDir(), "none.ini"), "")
		require.Equal(t, 2, code)
		require.Contains(t, out, "none.ini")
	})
}

// A secret is never printed, not even a wrong one.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	text := strings.Replace(goodINI(t), "RELAY_TOKEN=", "RELAY_TOKEN=\xA3\xC0hunter2", 1)
	_, problem := refused(t, text, "")
	require.Contains(t, problem, "RELAY_TOKEN")
	require.NotContains(t, problem, "hunter2")
}

func goodINI(t *testing.T) string {
	dir := t.TempDir()
	return strings.Join([]string{
		"[RELAY]", "KMSN=4711", "STATION=POS-01", "RELAY_TOKEN=a-token-of-the-site", "LEASE_DIR=" + dir, "STATE_DIR=" + filepath.Join(dir, "state"), "",
	}, "\r\n")
}

// refused runs the daemon with text as its stk.ini and demands exit code 2 and
// one line per problem, of which there is one, with a hint below.
func refused(t *testing.T, text, env string) (file, problem string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "stk.ini")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	code, out := run2(t, file, env)
	require.Equal(t, 2, code, "%s", out)
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	require.LessOrEqual(t, len(lines), 2, "%s", out)
	if len(lines) == 2 {
		require.True(t, strings.HasPrefix(lines[1], "  "), "the second line is a hint: %s", out)
	}
	return file, lines[0]
}

func run2(t *testing.T, file, env string) (code int, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), exe, "run", "--config", file)
	cmd.Env = os.Environ()
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err := cmd.Run()
	require.Error(t, err, "the daemon ran: %s", b.String())
	return cmd.ProcessState.ExitCode(), b.String()
}
