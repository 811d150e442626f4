package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSameToolchain(t *testing.T) {
	mod := []byte(`{"Go":"1.26.0","Toolchain":"go1.26.8"}`)
	require.NoError(t, sameToolchain(mod, "go1.26.8"))
	require.ErrorContains(t, sameToolchain(mod, "go1.26.9"), "go.mod names go1.26.8, and this go is go1.26.9")
	require.ErrorContains(t, sameToolchain([]byte(`{"Go":"1.26.0"}`), "go1.26.8"), "names no toolchain")
	require.Error(t, sameToolchain(nil, "go1.26.8"))
}
