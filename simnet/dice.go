package simnet

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// dice is one stream of a world's randomness. Everything random in a world
// comes from a handful of these, all derived from the one seed, so that a run
// can be repeated exactly.
type dice struct{ *rand.Rand }

// The streams a seed is split into. Keeping them apart means that dropping a
// fault from the schedule does not redraw the options.
const (
	streamOptions = iota + 1
	streamFaults
	streamWorld
)

func newDice(seed uint64, stream uint64) dice {
	return dice{rand.New(rand.NewPCG(seed, stream*0x9e3779b97f4a7c15))}
}

// chance is true with probability p. It draws nothing for p = 0.
func (d dice) chance(p float64) bool { return p > 0 && d.Float64() < p }

// between draws uniformly from [lo, hi].
func (d dice) between(lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return lo + time.Duration(d.Int64N(int64(hi-lo)+1))
}

// spread draws from [lo, hi] so that every doubling is equally likely: most
// delays are short, a few are very long. Integer arithmetic only, so the draw
// is the same on every processor.
func (d dice) spread(lo, hi time.Duration) time.Duration {
	lo = max(lo, 1)
	octaves := 0
	for lo<<octaves < hi {
		octaves++
	}
	if octaves == 0 {
		return lo
	}
	from := lo << d.IntN(octaves)
	return min(d.between(from, from*2), hi)
}

// oneOf picks an element.
func oneOf[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

// uuid returns a random UUID.
func (d dice) uuid() string {
	a, b := d.Uint64(), d.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(a), uint16(a>>32), a>>52, b>>52, b&0xffffffffffff)
}

// runID returns a random daemon run id, 12 hex digits.
func (d dice) runID() string { return fmt.Sprintf("%012x", d.Uint64()&0xffffffffffff) }
