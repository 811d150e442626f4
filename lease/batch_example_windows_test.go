package lease_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/convertfw/floatrelay/internal/testkit/wine"
	"github.com/convertfw/floatrelay/lease"
)

// agentLog names the file in which the test program, started by a batch file as
// the Agent, notes its pid and arguments.
const agentLog = "TEST_AGENT"

func TestMain(m *testing.M) {
	if path := os.Getenv(agentLog); path != "" {
		beAgent(path)
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "leader" { // as floatrelay.exe leader
		fmt.Println("192.168.1.10:9530")
		return
	}
	os.Exit(m.Run())
}

// beAgent lives until it is ended, or for a minute.
func beAgent(path string) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		os.Exit(1)
	}
	fmt.Fprintln(f, os.Getpid(), strings.Join(os.Args[1:], " "))
	_ = f.Close()
	time.Sleep(time.Minute)
}

// batch runs lines as a batch file in a folder that holds the examples, and
// returns what they print.
func batch(t *testing.T, lines ...string) string {
	t.Helper()
	dir := examples(t)
	script := filepath.Join(dir, "test.bat")
	text := "@echo off\r\n" + strings.Join(lines, "\r\n") + "\r\nexit /b 0\r\n"
	require.NoError(t, os.WriteFile(script, []byte(text), 0o666))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "cmd", "/c", "test.bat")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

// examples copies the batch files of the documentation.
func examples(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"find_relay.bat", "follow_relay.bat"} {
		b, err := os.ReadFile("../docs/examples/batch/" + name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o666))
	}
	return dir
}

// aView is a view as floatrelay writes it.
func aView(epoch uint64, ip, station string, ready bool) lease.View {
	return lease.View{
		KMSN: "4711", Station: station, IP: ip, Port: 9530, PID: 4242, Epoch: epoch, LeaseUntil: "20260115123010",
		Rev: 42, Share: shareA, Owner: id(1), State: lease.Held, Ready: ready,
	}
}

// publishedView writes a view the way the leader does and returns its file.
func publishedView(t *testing.T, folder string, v lease.View) string {
	t.Helper()
	require.NoError(t, lease.NewChain(lease.NewDir(folder)).Publish(t.Context(), v))
	return filepath.Join(folder, lease.ViewName)
}

// find runs the example on a file.
func find(t *testing.T, view string) string {
	t.Helper()
	short := view
	if p, err := windows.UTF16PtrFromString(view); err == nil {
		// A batch file is read in the console's code page; the short name of a
		// Chinese path is in any.
		buf := make([]uint16, 300)
		if n, err := windows.GetShortPathName(p, &buf[0], uint32(len(buf))); err == nil && n > 0 && n < 300 {
			short = windows.UTF16ToString(buf[:n])
		}
	}
	out := batch(t, `call find_relay.bat "`+short+`"`, `echo level %errorlevel% ip [%RELAY_IP%] port [%RELAY_PORT%] epoch [%RELAY_EPOCH%]`)
	return strings.TrimSpace(out)
}

const notFound = "level 1 ip [] port [] epoch []"

// The batch example finds the relay in a view as it is written.
func TestBatchExample_FindsTheRelay(t *testing.T) {
	for name, folder := range map[string]string{"plain": "socket", "blanks": "our socket (1)", "Chinese": "功許蓋"} {
		t.Run(name, func(t *testing.T) {
			folder = filepath.Join(t.TempDir(), folder)
			require.NoError(t, os.Mkdir(folder, 0o777))
			view := publishedView(t, folder, aView(7, "192.168.1.10", "功許蓋-01", true))
			require.Equal(t, "level 0 ip [192.168.1.10] port [9530] epoch [7]", find(t, view))
			publishedView(t, folder, aView(8, "192.168.1.11", "POS-02", true))
			require.Equal(t, "level 0 ip [192.168.1.11] port [9530] epoch [8]", find(t, view), "replaced")
			publishedView(t, folder, aView(9, "192.168.1.11", "POS-02", false))
			require.Equal(t, notFound, find(t, view), "not ready yet")
		})
	}
}

// What is not a view with an address leaves the variables empty, and nothing of
// it is carried out.
func TestBatchExample_RefusesWhatIsNoAddress(t *testing.T) {
	good := string(aView(7, "192.168.1.10", "POS-01", true).Encode())
	spoil := func(old, by string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, by, 1)
	}
	for name, text := range map[string]string{
		"empty": "", "NULs": strings.Repeat("\x00", 200), "half": good[:strings.Index(good, `"epoch"`)], "no JSON": "relay is off\r\n",
		"a name for an address":    spoil("192.168.1.10", "relay.example"),
		"fields in another order":  `{"port":9530,"ip":"192.168.1.10","epoch":7}`,
		"a command":                spoil("192.168.1.10", "1&echo OWNED&"),
		"a command behind a quote": spoil(`"192.168.1.10"`, `1"&echo OWNED&"`),
		"in the port":              spoil("9530", `9530"&echo OWNED&"`),
		"in the epoch":             spoil(`"epoch":7`, `"epoch":7"&echo OWNED&"`),
		"escaped":                  spoil("192.168.1.10", "1^&echo OWNED"),
		"a variable":               spoil("192.168.1.10", "%PATH%"),
		"delayed":                  spoil("192.168.1.10", "!PATH!"),
		"a pipe":                   spoil("192.168.1.10", "1|echo OWNED>owned"),
		"a bracket":                spoil("192.168.1.10", "1) & echo OWNED & ("),
	} {
		t.Run(name, func(t *testing.T) {
			view := filepath.Join(t.TempDir(), lease.ViewName)
			require.NoError(t, os.WriteFile(view, []byte(text), 0o666))
			require.Equal(t, notFound, find(t, view))
		})
	}
	t.Run("a comma in the station", func(t *testing.T) {
		view := filepath.Join(t.TempDir(), lease.ViewName)
		require.NoError(t, os.WriteFile(view, []byte(spoil("POS-01", "POS,01")), 0o666))
		got := find(t, view)
		if !wine.NotShown(t, "a comma in STATION moves the fields that cmd.exe counts (wine's keeps quoted ones whole)") {
			require.Equal(t, notFound, got)
		}
	})
	t.Run("missing", func(t *testing.T) {
		require.Equal(t, notFound, find(t, filepath.Join(t.TempDir(), lease.ViewName)))
	})
}

// The lines of the guide that ask the command do so.
func TestBatchExample_TheLinesOfTheGuide(t *testing.T) {
	b, err := os.ReadFile("../docs/integration.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(strings.ReplaceAll(string(b), "\r\n", "\n"), "```bat\n")
	require.True(t, found)
	lines, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	const program = `C:\STK\floatrelay.exe`
	require.Contains(t, lines, program)
	lines = strings.ReplaceAll(lines, program, copyOf(t, os.Args[0], "floatrelay.exe"))
	out := batch(t, append(strings.Split(lines, "\n"), "echo [%RELAY_IP%] [%RELAY_PORT%]")...)
	require.Equal(t, "[192.168.1.10] [9530]", strings.TrimSpace(out))
}

// The second example starts the Agent with the relay's address, and again when
// the relay has moved.
func TestBatchExample_FollowsTheRelay(t *testing.T) {
	folder := t.TempDir()
	view := publishedView(t, folder, aView(7, "192.168.1.10", "POS-01", true))
	agent := copyOf(t, os.Args[0], "relay_agent_for_test.exe")
	noted := filepath.Join(t.TempDir(), "agents")
	dir := examples(t)
	cmd := exec.CommandContext(t.Context(), "cmd", "/c", "follow_relay.bat", agent, view)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), agentLog+"="+noted)
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for _, a := range agents(t, noted) {
			endProcess(a.pid)
		}
		time.Sleep(200 * time.Millisecond) // its file can be removed then
	})

	started := func(args string) {
		t.Helper()
		require.Eventually(t, func() bool {
			all := agents(t, noted)
			return len(all) > 0 && all[len(all)-1].args == args
		}, 30*time.Second, 100*time.Millisecond, "no Agent with %q", args)
	}
	started("192.168.1.10 9530")
	if !wine.NotShown(t, "follow_relay.bat leaves an Agent that runs alone (wine's tasklist says nothing)") {
		publishedView(t, folder, aView(6, "192.168.1.99", "POS-09", true)) // an old copy
		time.Sleep(5 * time.Second)
		require.Len(t, agents(t, noted), 1)
	}
	publishedView(t, folder, aView(8, "192.168.1.11", "POS-02", true))
	started("192.168.1.11 9530")
}

// agentRun is one start of the Agent.
type agentRun struct {
	pid  int
	args string
}

func agents(t *testing.T, noted string) (all []agentRun) {
	t.Helper()
	b, err := os.ReadFile(noted)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, err := strconv.Atoi(first)
		require.NoError(t, err)
		all = append(all, agentRun{pid, rest})
	}
	return all
}

func endProcess(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

func copyOf(t *testing.T, from, name string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(to, b, 0o777))
	return to
}
