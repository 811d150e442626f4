package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/doctor"
	"github.com/convertfw/floatrelay/internal/freeport"
)

// freePorts returns a port that is free together with the next one.
func freePorts(t *testing.T) int {
	t.Helper()
	ports, err := freeport.Pairs(1)
	require.NoError(t, err)
	return ports[0]
}

// program makes an executable file.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "relay.bat")
	require.NoError(t, os.WriteFile(path, []byte("exit 0\n"), 0o755))
	return path
}

func TestDoctor_AllRightBesideADaemon(t *testing.T) {
	s := station()
	s.status.Token, s.status.Share.Path = config.Fingerprint(testKMSN, testToken), ""
	file := ini(t, "API_ADDR="+serving(t, s), "RELAY_EXE="+program(t), "GOSSIP_ADVERTISE=127.0.0.1",
		"RELAY_PORT="+strconv.Itoa(freePorts(t)), "GOSSIP_PORT="+strconv.Itoa(freePorts(t)))
	got := cli(t, "doctor", "--config", file)
	require.Equal(t, exitOK, got.code, got.out)
	require.Empty(t, got.err)
	require.Contains(t, got.out, "0 failures, ")
	require.NotContains(t, got.out, testToken)
	got = cli(t, "doctor", "--json", "--config", file)
	var r doctor.Report
	require.NoError(t, json.Unmarshal([]byte(got.out), &r))
	for _, x := range r.Results { // the loopback address, and ports that any program could get
		require.True(t, x.Level == doctor.OK || x.Check == "address" || x.Check == "ranges", x)
	}
}

func TestDoctor_AFailureIsExit1(t *testing.T) {
	file := ini(t, "API_ADDR="+unusedAddr(t), "RELAY_EXE="+filepath.Join(t.TempDir(), "missing.exe"))
	got := cli(t, "doctor", "--json", "--config", file)
	require.Equal(t, exitNo, got.code)
	require.Empty(t, got.err)
	var r doctor.Report
	require.NoError(t, json.Unmarshal([]byte(got.out), &r))
	require.False(t, r.OK)
	require.Positive(t, r.Failures)
	for _, x := range r.Results {
		require.Equal(t, x.Level == doctor.OK, x.Do == "", "advice stands exactly where something is to be done: %v", x)
	}
}

func TestDoctor_WithoutAConfigurationSaysSo(t *testing.T) {
	got := cli(t, "doctor", "--config", filepath.Join(t.TempDir(), "stk.ini"))
	require.Equal(t, exitNo, got.code)
	require.Contains(t, got.out, "failure  ini")
	require.Contains(t, got.out, "1 failure, 0 warnings\n")
}

func TestReportText_Golden(t *testing.T) {
	golden(t, "doctor.txt", reportText(doctor.Report{Failures: 1, Warnings: 1, Results: []doctor.Result{
		{Check: "ini", Level: doctor.OK, Text: `C:\STK\stk.ini (cp950): 27 settings, all allowed`},
		{Check: "daemon", Level: doctor.Warning, Text: "no floatrelay daemon reachable", Do: "start it"},
		{Check: "exclusive", Level: doctor.Failure, Text: "creating a new file is not exclusive\x1b", Do: "use another kind of share"},
	}}))
}
