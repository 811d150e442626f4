package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
)

func TestNotes_Set(t *testing.T) {
	var told []string
	n := &notes{post: func(ev arbiter.Event) { told = append(told, ev.(arbiter.Eligibility).Note) }}
	n.set("port", "")
	require.Empty(t, told, "nothing to say is not said")
	n.set("port", "port 9530 is held by pid 7")
	n.set("drained", "drained by hand")
	n.set("port", "port 9530 is held by pid 7")
	n.set("drained", "")
	n.set("port", "")
	require.Equal(t, []string{
		"port 9530 is held by pid 7", "drained by hand; port 9530 is held by pid 7", "port 9530 is held by pid 7", "",
	}, told, "each change once, all reasons in a fixed order")
}
