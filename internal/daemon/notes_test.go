package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/reason"
)

func TestNotes_Set(t *testing.T) {
	var told [][]reason.Reason
	n := &notes{post: func(ev arbiter.Event) { told = append(told, ev.(arbiter.Eligibility).Reasons) }}
	port, drained := reason.Reason{Code: reason.PortHeld, Port: 9530, Detail: "pid 7"}, reason.Reason{Code: reason.Drained}
	n.set("port")
	require.Empty(t, told, "nothing to say is not said")
	n.set("port", port)
	n.set("drained", drained)
	n.set("port", port)
	n.set("drained")
	n.set("port")
	require.Equal(t, [][]reason.Reason{{port}, {drained, port}, {port}, nil}, told, "each change once, all reasons in a fixed order")
}
