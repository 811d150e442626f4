package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
)

// A script that asks for what does not exist must not get a help text and
// "done".
func TestTopics_UnknownOnesAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		"help foo":             `no help on "foo": there is no such command`,
		"help token foo":       `no help on "token foo": there is no such command`,
		"completion foo":       `no completion for "foo": there is one for bash, zsh, fish and powershell`,
		"completion":           "completion needs one of: bash, zsh, fish, powershell",
		"completion bash more": `unknown command "more" for "floatrelay completion bash"`,
	} {
		got := cli(t, strings.Fields(line)...)
		require.Equal(t, exitUsage, got.code, line)
		require.Empty(t, got.out, line)
		require.Contains(t, got.err, "floatrelay: "+want+"\n", line)
	}
	for line, want := range map[string]string{
		"help": "Available Commands", "help token new": "floatrelay token new", "help completion bash": "bash", "help help": "help",
	} {
		got := cli(t, strings.Fields(line)...)
		require.Equal(t, exitOK, got.code, line)
		require.Contains(t, got.out, want, line)
	}
}

func TestVersionFlag(t *testing.T) {
	got := cli(t, "--version")
	require.Equal(t, exitOK, got.code)
	require.Equal(t, currentVersion().String()+"\n", got.out)
}

// The shell offers the stations that could take over, the best first.
func TestHandoff_CompletesStations(t *testing.T) {
	s := &site{members: localapi.Members{Self: "a/1", Leader: "a/1", Members: []localapi.Member{
		{ID: "d/1", Station: "餐廳-04", Addr: "192.168.1.13:7946", State: localapi.StateAlive, Eligible: true, Priority: 100},
		{ID: "a/1", Station: "POS-01", State: localapi.StateAlive, Eligible: true, Priority: 100},
		{ID: "b/1", Station: "POS-02", State: localapi.StateDead, Eligible: true, Priority: 100},
		{ID: "c/1", Station: "POS-03", State: localapi.StateAlive, Priority: 100},
		{ID: "e/1", Station: "POS-05", State: localapi.StateAlive, Eligible: true},
	}}}
	got := cli(t, "__complete", "handoff", "--api", serving(t, s), "")
	require.Equal(t, "餐廳-04\t192.168.1.13:7946\n:36\n", got.out, got.err)
	t.Run("no second one", func(t *testing.T) {
		got := cli(t, "__complete", "handoff", "--api", serving(t, s), "POS-03", "")
		require.Equal(t, ":4\n", got.out)
	})
	t.Run("nothing without a daemon", func(t *testing.T) {
		got := cli(t, "__complete", "handoff", "--api", unusedAddr(t), "")
		require.Equal(t, exitOK, got.code)
		require.Equal(t, ":4\n", got.out)
	})
}
