package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeProgram stands for floatrelay in the scripts' tests: it notes how it was
// called, refuses a stk.ini that says so, and ends as a file named after the
// command says.
const fakeProgram = `#!/bin/sh
echo "$*" >> "$FAKE/calls"
[ ! -f "$FAKE/$1-$2" ] || exit "$(cat "$FAKE/$1-$2")"
[ ! -f "$FAKE/$1" ] || exit "$(cat "$FAKE/$1")"
[ "$1 $2" != "config --json" ] || cat "$FAKE/shown"
for last; do :; done
! grep -q BROKEN "$last" 2>/dev/null
`

// scripted is a machine for the scripts: its folders lie in one of the test's, and
// what only root can do is noted instead of done.
type scripted struct {
	*testing.T
	root, archive, prefix, etc, units, fake string
}

func newScripted(t *testing.T) *scripted {
	t.Helper()
	root := filepath.Join(t.TempDir(), "許功蓋 x")
	s := &scripted{
		T: t, root: root, archive: filepath.Join(root, "a"), prefix: filepath.Join(root, "bin"),
		etc: filepath.Join(root, "etc"), units: filepath.Join(root, "units"), fake: filepath.Join(root, "fake"),
	}
	for _, dir := range []string{s.archive, s.units, s.fake} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	for _, name := range []string{"install.sh", "uninstall.sh"} {
		body, err := os.ReadFile("../../../deploy/linux/" + name)
		require.NoError(t, err)
		require.Contains(t, string(body), "/etc/systemd/system/floatrelay.service")
		// The folder's name holds a blank, which the real one never does.
		text := strings.ReplaceAll(string(body), "/etc/systemd/system/floatrelay.service", `"$UNITS/floatrelay.service"`)
		s.write(filepath.Join(s.archive, name), text, 0o755)
	}
	s.program("one")
	s.write(filepath.Join(s.archive, "stk.ini.template"), "; template\r\n", 0o644)
	s.write(s.site(), "[RELAY]\r\nKMSN=4711\r\n", 0o600)
	s.write(filepath.Join(s.fake, "sleep"), "#!/bin/sh\n", 0o755)
	s.write(filepath.Join(s.fake, "chown"), `#!/bin/sh
echo "chown $1 $(basename "$2")" >> "$FAKE/calls"
[ "$1" != stranger ]
`, 0o755)
	return s
}

// in is the same machine in a subtest.
func (s *scripted) in(t *testing.T) *scripted {
	same := *s
	same.T = t
	return &same
}

func (s *scripted) site() string { return filepath.Join(s.root, "site.ini") }
func (s *scripted) ini() string  { return filepath.Join(s.etc, "stk.ini") }

func (s *scripted) write(path, text string, mode os.FileMode) {
	s.Helper()
	require.NoError(s, os.WriteFile(path, []byte(text), mode))
}

// program makes a release the archive's.
func (s *scripted) program(release string) {
	s.write(filepath.Join(s.archive, "floatrelay"), fakeProgram+"# "+release+"\n", 0o755)
}

func (s *scripted) script(name string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.Context(), filepath.Join(s.archive, name),
		append([]string{"--prefix", s.prefix, "--etc", s.etc}, args...)...)
	cmd.Env = append(os.Environ(), "FAKE="+s.fake, "UNITS="+s.units, "PATH="+s.fake+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// must installs.
func (s *scripted) must(args ...string) {
	s.Helper()
	out, err := s.script("install.sh", args...)
	require.NoError(s, err, out)
}

// refused installs and requires exit code 1 and a reason.
func (s *scripted) refused(reason string, args ...string) {
	s.Helper()
	out, err := s.script("install.sh", args...)
	var exit *exec.ExitError
	require.ErrorAs(s, err, &exit, out)
	require.Equal(s, 1, exit.ExitCode(), out)
	require.Contains(s, out, "install.sh: ")
	require.Contains(s, out, reason)
}

// ends makes a command of the program end with a code.
func (s *scripted) ends(command, code string) {
	s.write(filepath.Join(s.fake, command), code, 0o644)
	s.Cleanup(func() { _ = os.Remove(filepath.Join(s.fake, command)) })
}

// calls returns what was called since the last look.
func (s *scripted) calls() string {
	b, err := os.ReadFile(filepath.Join(s.fake, "calls"))
	require.NoError(s, err)
	require.NoError(s, os.Remove(filepath.Join(s.fake, "calls")))
	return string(b)
}

func (s *scripted) has(path, text string) {
	s.Helper()
	b, err := os.ReadFile(path)
	require.NoError(s, err)
	require.Contains(s, string(b), text)
}

// installed is a machine with the service, as the unit's file tells the scripts.
func (s *scripted) installed() {
	s.must("--site-ini", s.site(), "--station", "POS-07")
	s.write(filepath.Join(s.units, "floatrelay.service"), "", 0o644)
	s.calls()
}

// install.sh makes a stk.ini once, copies the program, keeps the one before, and
// puts it back.
func TestInstallScript(t *testing.T) {
	s := newScripted(t)
	s.refused("--station", "--no-service", "--site-ini", s.site())
	s.must("--no-service", "--site-ini", s.site(), "--station", "POS-07")
	s.has(s.ini(), "STATION=POS-07\r\n[RELAY]\r\nKMSN=4711\r\n")
	st, err := os.Stat(s.ini())
	require.NoError(t, err)
	require.Zero(t, st.Mode().Perm()&0o077, "it holds the secret")
	exe := filepath.Join(s.prefix, "floatrelay")
	s.has(exe, "# one")

	s.program("two")
	s.must("--no-service")
	s.has(exe, "# two")
	s.has(exe+".previous", "# one")
	s.has(s.ini(), "POS-07")
	s.must("--no-service", "--rollback")
	s.has(exe, "# one")

	t.Run("a broken stk.ini stops it before anything is replaced", func(t *testing.T) {
		s := s.in(t)
		s.write(s.ini(), "BROKEN\r\n", 0o600)
		s.program("three")
		s.refused("correct", "--no-service")
		s.has(exe, "# one")
	})
	t.Run("no stk.ini and no site", func(t *testing.T) {
		s := s.in(t)
		require.NoError(t, os.Remove(s.ini()))
		s.refused("fill in", "--no-service")
		s.has(s.ini(), "; template")
	})
}

// What would give a PC a wrong name, or many PCs one, is refused and leaves no
// file behind.
func TestInstallScript_RefusesAWrongStation(t *testing.T) {
	s := newScripted(t)
	gone := filepath.Join(s.root, "gone.ini")
	for _, c := range []struct {
		name, reason, site string
		args               []string
	}{
		{"Chinese", "other than ASCII", "KMSN=4711\r\n", []string{"--site-ini", s.site(), "--station", "功POS"}},
		{"blank", "other than ASCII", "KMSN=4711\r\n", []string{"--site-ini", s.site(), "--station", "POS 7"}},
		{"no value", "--station needs a value", "KMSN=4711\r\n", []string{"--site-ini", s.site(), "--station"}},
		{"an option as value", "--station needs a value", "KMSN=4711\r\n", []string{"--station", "--site-ini", s.site()}},
		{"no site.ini", "gone.ini is not there", "", []string{"--site-ini", gone, "--station", "POS-07"}},
		{"no such account", "is there an account 'stranger'?", "KMSN=4711\r\n", []string{"--site-ini", s.site(), "--station", "POS-07", "--user", "stranger"}},
		{"UTF-16", "save it as UTF-8", "\xff\xfeK\x00", []string{"--site-ini", s.site(), "--station", "POS-07"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := s.in(t)
			s.write(s.site(), c.site, 0o600)
			s.refused(c.reason, c.args...)
			left, err := filepath.Glob(filepath.Join(s.etc, "*"))
			require.NoError(t, err)
			require.Empty(t, left)
			require.NoFileExists(t, filepath.Join(s.prefix, "floatrelay"))
		})
	}
	for name, text := range siteStations {
		t.Run("site.ini with STATION: "+name, func(t *testing.T) {
			s := s.in(t)
			s.write(s.site(), text, 0o600)
			s.refused("has a STATION", "--site-ini", s.site(), "--station", "POS-07")
			require.NoFileExists(t, s.ini())
		})
	}
}

// The bytes of site.ini stay as they are, and a byte order mark in front.
func TestInstallScript_KeepsTheSitesBytes(t *testing.T) {
	for name, text := range siteNames {
		t.Run(name, func(t *testing.T) {
			s := newScripted(t)
			s.write(s.site(), text, 0o600)
			s.must("--no-service", "--site-ini", s.site(), "--station", "POS-07")
			b, err := os.ReadFile(s.ini())
			require.NoError(t, err)
			bare, marked := strings.CutPrefix(text, "\xef\xbb\xbf")
			want := "STATION=POS-07\r\n" + bare
			if marked {
				want = "\xef\xbb\xbf" + want
			}
			require.Equal(t, want, string(b))
		})
	}
}

// The service's account can read stk.ini, whoever made it and whenever.
func TestInstallScript_GivesStkIniToTheAccount(t *testing.T) {
	s := newScripted(t)
	s.refused("fill in", "--user", "nobody")
	require.Contains(t, s.calls(), "chown nobody stk.ini.new")
	s.must("--user", "nobody")
	require.Contains(t, s.calls(), "chown nobody stk.ini\n")
	require.NoError(t, os.Remove(s.ini()))
	s.must("--site-ini", s.site(), "--station", "POS-07", "--user", "nobody")
	require.Contains(t, s.calls(), "chown nobody stk.ini.new")
}

// A folder that every account may change is not filled: root would run what
// others put there.
func TestHole14_InstallScriptRefusesAnOpenFolder(t *testing.T) {
	for _, open := range []string{"bin", "etc"} {
		t.Run(open, func(t *testing.T) {
			s := newScripted(t)
			dir := filepath.Join(s.root, open) // prefix or etc
			require.NoError(t, os.MkdirAll(dir, 0o755))
			require.NoError(t, os.Chmod(dir, 0o777))
			s.refused("chmod o-w", "--site-ini", s.site(), "--station", "POS-07")
			require.NoFileExists(t, s.ini())
		})
	}
}
