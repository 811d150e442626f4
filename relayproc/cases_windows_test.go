package relayproc

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTree_BatchFile: RELAY_EXE may be a batch file, in a folder with blanks
// and Chinese characters; what it starts belongs to the tree.
func TestTree_BatchFile(t *testing.T) {
	w := newWorld(t, "-shape", "fork")
	dir := filepath.Join(w.dir, "站 一")
	require.NoError(t, os.Mkdir(dir, 0o755))
	bat := filepath.Join(dir, "relay server.bat")
	require.NoError(t, os.WriteFile(bat, []byte("@echo off\r\n\"%SELF%\" %*\r\n"), 0o644))
	w.spec.Env = append(w.spec.Env, "SELF="+w.spec.Exe)
	w.spec.Exe = bat
	w.start(time.Hour)
	first := await[Started](w, nil).PID
	ready := await[Ready](w, nil).PID
	if ownersKnown(t) {
		require.NotEqual(t, first, ready)
	}
	w.guard.Kill()
	require.Equal(t, Stopped, w.awaitDown().Cause)
}

// TestTree_ProgramUnderAChinesePath runs a copy of the program from there.
func TestTree_ProgramUnderAChinesePath(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "許功蓋 中繼")
	require.NoError(t, os.Mkdir(dir, 0o755))
	body, err := os.ReadFile(w.spec.Exe)
	require.NoError(t, err)
	w.spec.Exe, w.spec.Dir = filepath.Join(dir, "relay_server.exe"), dir
	require.NoError(t, os.WriteFile(w.spec.Exe, body, 0o755))
	w.start(time.Hour)
	await[Ready](w, nil)
	w.guard.Kill()
	require.Equal(t, Stopped, w.awaitDown().Cause)
}

// TestTree_KilledGuardEndsTheJob: the job's only handle is the guard's.
func TestTree_KilledGuardEndsTheJob(t *testing.T) {
	w := newWorld(t, "-shape", "double", "-ignore-term").start(time.Hour)
	await[Ready](w, nil)
	require.NoError(t, w.guard.proc.Kill())
	require.Equal(t, GuardLost, w.awaitDown().Cause)
}
