package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
)

// token status says what is still to be done while the token is being changed.
func TestToken_StatusFollowsARotation(t *testing.T) {
	const old = "RELAY_TOKEN_OLD=the-old-token-of-this-site"
	for name, c := range map[string]struct {
		rotation *localapi.Rotation
		text     string
	}{
		"not restarted":   {nil, "floatrelay service stop, then floatrelay service start"},
		"members missing": {&localapi.Rotation{Waiting: []string{"POS-02", "POS-03"}}, "still without the new token: POS-02, POS-03"},
		"about to switch": {&localapi.Rotation{}, "the old token is used until"},
		"switched":        {&localapi.Rotation{UsesNew: true}, "remove RELAY_TOKEN_OLD"},
	} {
		t.Run(name, func(t *testing.T) {
			s := station()
			s.status.Token, s.status.Rotation = config.Fingerprint(testKMSN, testToken), c.rotation
			got := cli(t, "token", "status", "--config", ini(t, old, "API_ADDR="+serving(t, s)))
			require.Equal(t, exitOK, got.code, got.err)
			require.Contains(t, got.out, c.text)
		})
	}
}
