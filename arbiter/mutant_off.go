//go:build !mutants

package arbiter

// mutable carries nothing outside the checker's build.
type mutable struct{}

// broken is constant false in every build but the checker's.
func (m *Machine) broken(mutant) bool { return false }
