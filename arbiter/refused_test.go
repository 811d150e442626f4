package arbiter

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/reason"
)

// A station whose account may not read the chain is told so, not that the share
// has not answered; once it may, nothing of it is left.
func TestS6_ADeniedChainIsSaidToBeDenied(t *testing.T) {
	r := newRig(t).manual()
	answer := func(acts []Action, ev Listed) []Action {
		lists := of[List](acts)
		require.NotEmpty(t, lists)
		ev.Op = lists[len(lists)-1].Op
		return r.do(ev)
	}
	acts := answer(append(r.do(TreeClear{}), r.pass(3*sec)...), Listed{Outcome: Denied})
	require.Equal(t, reason.Of(reason.ChainRefused), r.m.Status().Reasons)
	require.False(t, r.m.Status().Eligible)
	answer(append(acts, r.pass(3*sec)...), Listed{Outcome: OK})
	require.False(t, reason.Has(r.m.Status().Reasons, reason.ChainRefused))
}
