package demo

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimeline_IsInOrder(t *testing.T) {
	var b bytes.Buffer
	(&show{opt: Options{Out: &b}}).timeline(Result{
		LastBeat: -139 * time.Millisecond, Takeover: 1400 * time.Millisecond, Ready: 1500 * time.Millisecond, Reconnect: 1450 * time.Millisecond,
	})
	require.Regexp(t, `(?s)-0\.139 s.*0\.000 s  fault.*1\.400 s.*1\.450 s  the client.*1\.500 s  the new relay`, b.String())
}
