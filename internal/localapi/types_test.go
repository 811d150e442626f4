package localapi

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Scripts parse these shapes; a changed name or a lost field breaks them.
func TestJSON_ShapesAreThePublishedOnes(t *testing.T) {
	for name, tc := range map[string]struct {
		value any
		want  string
	}{
		"members": {Members{Members: []Member{{}}}, `{"kmsn":"","self":"","leader":"","epoch":0,"rev":0,"members":[
			{"id":"","station":"","addr":"","state":"","role":"","epoch":0,"priority":0,"eligible":false,
			 "note":"","share":"","rtt_ms":0,"version":""}]}`},
		"leader": {Leader{}, `{"kmsn":"","station":"","ip":"","port":0,"epoch":0,"rev":0,"lease_until":"","ready":false}`},
		"status": {Status{}, `{"role":"","epoch":0,"rev":0,"eligible":false,"note":"","leader":"",
			"relay":{"state":"","pid":0,"restarts":0,"since":""},"fence":{"left_ms":0,"by":""},
			"share":{"path":"","id":"","state":"","last_ok_ms":0,"create_ms":0},
			"gossip":{"alive":0,"health":0},"token":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(tc.value)
			require.NoError(t, err)
			require.JSONEq(t, tc.want, string(got))
		})
	}
}

func TestMember_Off(t *testing.T) {
	for state, want := range map[string]bool{StateAlive: false, StateSuspect: false, StateDead: true, StateLeft: true} {
		require.Equal(t, want, Member{State: state}.Off(), state)
	}
}
