package service

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnit(t *testing.T) {
	u := Unit(Plan{Exe: "/opt/float relay/功/floatrelay", Config: `/etc/許功蓋 50% $x\y/stk.ini`})
	for _, line := range []string{
		`ExecStart="/opt/float relay/功/floatrelay" "run" "--config" "/etc/許功蓋 50%% $$x\\y/stk.ini"`,
		"Type=notify", "Restart=on-failure", "KillMode=process", "WorkingDirectory=/", "WantedBy=multi-user.target",
		"StartLimitIntervalSec=0",
	} {
		require.Contains(t, u, "\n"+line+"\n")
	}
	require.NotContains(t, u, "User=")
	require.Contains(t, Unit(Plan{Exe: "/x", Config: "/y", User: "relay"}), "\nUser=relay\nStateDirectory=floatrelay\n")
}

// systemd itself accepts the unit, without a warning, where it is there to ask.
func TestUnit_SystemdAccepts(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("no systemd-analyze here; the unit's text is tested by TestUnit")
		return
	}
	dir := filepath.Join(t.TempDir(), "float relay 功 50%")
	require.NoError(t, os.Mkdir(dir, 0o755))
	exe := filepath.Join(dir, "floatrelay")
	require.NoError(t, os.WriteFile(exe, []byte("#!/bin/sh\n"), 0o755))
	for name, user := range map[string]string{"root": "", "a user": "root"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), Name+".service")
			unit := Unit(Plan{Exe: exe, Config: filepath.Join(dir, "stk $HOME.ini"), User: user})
			require.NoError(t, os.WriteFile(path, []byte(unit), 0o644))
			out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", path).CombinedOutput()
			require.NoError(t, err, string(out))
			require.NotContains(t, string(out), Name+".service", "a warning")
		})
	}
	t.Run("and would refuse a broken one", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), Name+".service")
		unit := strings.Replace(Unit(Plan{Exe: exe, Config: "/y"}), `ExecStart="`, `ExecStart="nowhere`, 1)
		require.NoError(t, os.WriteFile(path, []byte(unit), 0o644))
		require.Error(t, exec.CommandContext(t.Context(), analyze, "verify", "--man=no", path).Run())
	})
}
