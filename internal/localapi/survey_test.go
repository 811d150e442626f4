package localapi

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// asking is a source that can ask the members.
type asking struct {
	fakeSource
	found Survey
	asked int
}

func (a *asking) Survey(context.Context) (Survey, error) { a.asked++; return a.found, a.refuse }

func TestSurvey_NeedsTheBearer(t *testing.T) {
	src := &asking{found: Survey{KMSN: "4711", Members: []Surveyed{{Station: "POS-02", UDPOut: true, SkewMS: -5}}, Race: &Race{With: "POS-02", Rounds: 16}}}
	bearer := Bearer("secret", "4711")
	addr := serve(t, src, Options{Bearers: []string{bearer}})
	_, err := client(t, addr, "").Survey(t.Context())
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusUnauthorized, refused.Code)
	require.Zero(t, src.asked)

	got, err := client(t, addr, bearer).Survey(t.Context())
	require.NoError(t, err)
	require.Equal(t, src.found.Members, got.Members)
	require.Equal(t, src.found.Race, got.Race)
	require.NotNil(t, got.Strangers, "a list, not null")

	src.refuse = errRefused
	_, err = client(t, addr, bearer).Survey(t.Context())
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusConflict, refused.Code)
}

func TestSurvey_AnOlderDaemonHasNone(t *testing.T) {
	bearer := Bearer("secret", "4711")
	_, err := client(t, serve(t, &fakeSource{}, Options{Bearers: []string{bearer}}), bearer).Survey(t.Context())
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusNotFound, refused.Code)
}
