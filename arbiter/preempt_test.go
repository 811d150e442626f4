package arbiter

import (
	"testing"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// Which of several members that want the lease back gets it.

func TestRule7_TheBestOfTwoPreemptorsGetsTheLease(t *testing.T) {
	for name, best := range map[string]lease.ID{"the first": idB, "the second": idC} {
		t.Run(name, func(t *testing.T) {
			r := settled(t)
			b, c := alive(idB), alive(idC)
			b.Preempt, c.Preempt, b.Priority, c.Priority = true, true, 150, 150
			for _, m := range []*Member{&b, &c} {
				if m.ID == best {
					m.Priority = 200
				}
			}
			r.pass(35 * sec)
			acts := append(r.members(b, c), r.pass(4*sec)...)
			require.Equal(t, best, r.releaseIn(acts).Successor)
		})
	}
}

// twoPreempt is a holder that has led for long, with B (priority 150) and the
// better C (200), who both want the lease back and of whom only B vouches yet.
func twoPreempt(t *testing.T) *rig {
	r := settled(t)
	r.vouching = nil
	b, c := alive(idB), alive(idC)
	b.Preempt, c.Preempt, b.Priority, c.Priority = true, true, 150, 200
	none[StopRelay](t, append(r.members(b, c), r.pass(35*sec)...))
	r.vouching = []lease.ID{idB}
	none[StopRelay](t, r.pass(10*sec))
	return r
}

// The better one came ten seconds later: going to B first would change the relay
// twice within a minute.
func TestRule7_ABetterPreemptorIsWaitedFor(t *testing.T) {
	r := twoPreempt(t)
	r.vouching = []lease.ID{idB, idC}
	none[StopRelay](t, r.pass(29*sec))
	require.Equal(t, idC, r.releaseIn(r.pass(4*sec)).Successor)
}

// Nobody waits for one that has gone again.
func TestRule7_APreemptorThatHasGoneIsNotWaitedFor(t *testing.T) {
	r := twoPreempt(t)
	r.vouching = []lease.ID{idB, idC}
	none[StopRelay](t, r.pass(25*sec))
	r.vouching = []lease.ID{idB}
	require.Equal(t, idB, r.releaseIn(r.pass(4*sec)).Successor)
}
