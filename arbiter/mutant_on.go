//go:build mutants

package arbiter

import "fmt"

type mutable struct{ mutation mutant }

// Mutants returns the names of all deliberate breakages.
func Mutants() []string {
	var names []string
	for x := sane + 1; x < mutants; x++ {
		names = append(names, x.String())
	}
	return names
}

// Mutate breaks one rule of this machine; see Mutants.
func (m *Machine) Mutate(name string) error {
	for x := sane + 1; x < mutants; x++ {
		if x.String() == name {
			m.mutation = x
			return nil
		}
	}
	return fmt.Errorf("arbiter: no mutant %q", name)
}

func (m *Machine) broken(x mutant) bool { return m.mutation == x }
