package arbiter

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// A leader whose folder was removed says so and not that the share is full, and
// shows it for as long as it leads.
func TestReport_AFolderThatIsGone(t *testing.T) {
	r := settled(t)
	require.Empty(t, r.m.Status().Reasons)
	r.creates = false
	r.share, r.chain = "", nil
	acts := r.pass(r.cfg.Renew + sec)
	acts = append(acts, r.created(NotExist)...)
	require.Equal(t, Leader, r.m.Status().Role)
	require.Contains(t, reports(acts), string(reason.RenewalNoFolder))
	require.NotContains(t, reports(acts), string(reason.RenewalFails))
	require.Equal(t, reason.Of(reason.FolderGone), r.m.Status().Reasons)
	require.True(t, r.m.Status().Eligible, "the note alone decides nothing")
}

// Whoever waits for a lease of its own does not say that it follows itself.
func TestReport_NobodyFollowsItself(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Station = "POS-X" })
	e := r.entry(6, 3, lease.ID{Node: idA.Node, Run: "a0"}, func(x *lease.Record) { x.Boot = "before" })
	r.put(e)
	acts := append(r.do(TreeClear{}), r.pass(3*sec)...)
	require.Contains(t, reports(acts), string(reason.RoleOwnLease))
	require.NotContains(t, reports(acts), string(reason.RoleFollows))
}
