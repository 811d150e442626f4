package simnet

import (
	"errors"
	"slices"
)

// Shrink looks for a shorter schedule of faults that breaks the same promise,
// by leaving out halves, quarters and so on down to single faults. It returns
// the options of the smallest world found; with those of a world that keeps its
// promises it returns them unchanged.
func Shrink(opt Options, try func(Options) error) Options {
	check := broken(try(opt))
	if check == "" {
		return opt
	}
	for size := max(len(opt.Faults)/2, 1); ; size /= 2 {
		for from := 0; from < len(opt.Faults); {
			shorter := opt
			shorter.Faults = slices.Delete(slices.Clone(opt.Faults), from, min(from+size, len(opt.Faults)))
			if broken(try(shorter)) == check {
				opt = shorter
			} else {
				from += size
			}
		}
		if size <= 1 {
			return opt
		}
	}
}

// broken names the check that an error violates.
func broken(err error) string {
	var v *Violation
	if errors.As(err, &v) {
		return v.Check
	}
	return ""
}
