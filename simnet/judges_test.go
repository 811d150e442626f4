package simnet

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJudge_NamesTheCheckThatFails(t *testing.T) {
	for _, tc := range []struct {
		defect, check string
		question
	}{
		{"", "nothing", question{Mode: Sleep, Seed: 1}},
		{NoGuard, "never-two", question{Mode: Sleep, Seed: 1}},
		{"", "nothing", question{Script: "FrozenGuardAtItsDeadline"}},
		{NoWatch, "never-two", question{Script: "FrozenGuardAtItsDeadline"}},
	} {
		check, err := here(tc.defect)(tc.question)
		require.NoError(t, err)
		require.Equal(t, tc.check, check, "%q %+v", tc.defect, tc.question)
	}
	_, err := here("")(question{Script: "NeverTold"})
	require.ErrorContains(t, err, `no script "NeverTold"`)
}

func TestJudge_AnswersAnotherProcess(t *testing.T) {
	var out strings.Builder
	require.NoError(t, answerAll(strings.NewReader(`{"Mode":"sleep","Seed":1} {"Script":"FrozenGuardKilledLate"}`), &out))
	require.Equal(t, "\"nothing\"\n\"nothing\"\n", out.String())
	require.Error(t, answerAll(strings.NewReader(`{"Script":"NeverTold"}`), &out))
	require.Error(t, answerAll(strings.NewReader(`no question`), &out))
}

func TestFlags_AModeThatDoesNotExistIsRefused(t *testing.T) {
	for _, mode := range append([]Mode{"", Noise, Failover, Restore}, Modes...) {
		require.NoError(t, knownMode(string(mode)))
	}
	for _, mode := range []string{"slep", "Sleep", string(Scripted)} {
		require.ErrorContains(t, knownMode(mode), "no such mode")
	}
}
