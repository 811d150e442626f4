package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultStateDir(t *testing.T) {
	env := func(string) (string, bool) { return `D:\Data`, true }
	require.Equal(t, `D:\Data\floatrelay`, defaultStateDir(env))
	require.Equal(t, `D:\Data\floatrelay\floatrelay.log`, defaultLogFile(env))
	require.Equal(t, `C:\ProgramData\floatrelay`, defaultStateDir(func(string) (string, bool) { return "", false }))
}
