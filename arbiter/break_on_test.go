//go:build mutants

package arbiter

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// breakOnPurpose breaks one rule of every machine in these tests, so that one
// can see which of them notice: go test -tags mutants with ARBITER_MUTANT set.
func breakOnPurpose(t testing.TB, m *Machine) {
	if name := os.Getenv("ARBITER_MUTANT"); name != "" {
		require.NoError(t, m.Mutate(name))
	}
}
