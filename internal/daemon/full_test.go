package daemon

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/internal/words"
	"github.com/convertfw/floatrelay/lease"
)

// answers is a store whose writes end as it is told.
type answers struct {
	arbiter.Store
	err error
}

func (a *answers) Create(context.Context, string, uint64, []byte) error { return a.err }
func (a *answers) Found(context.Context, string, uint64, []byte) error  { return a.err }
func (a *answers) Publish(context.Context, lease.View) error            { return a.err }

// A full share is said once, with what to do, shown in status, and told to be
// over once something could be written; the arbiter hears the errors unchanged.
func TestFullness(t *testing.T) {
	for name, write := range map[string]func(*fullness) error{
		"record": func(f *fullness) error { return f.Create(t.Context(), "s", 1, nil) },
		"chain":  func(f *fullness) error { return f.Found(t.Context(), "s", 1, nil) },
		"view":   func(f *fullness) error { return f.Publish(t.Context(), lease.View{}) },
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			inner := &answers{}
			f := &fullness{Store: inner, share: `W:\socket`, say: func(warn bool, r reason.Reason, _ ...reason.Reason) {
				said = append(said, fmt.Sprintf("%v %s", warn, words.English.Say(r)))
			}}
			for _, inner.err = range []error{
				nil, lease.ErrUnavailable,
				fmt.Errorf("create record 7: %w: %w: disk", lease.ErrNoBody, lease.ErrFull),
				fmt.Errorf("create record 8: %w: disk", lease.ErrFull),
				lease.ErrExists, lease.ErrUnknown,
			} {
				require.Equal(t, inner.err, write(f))
			}
			require.True(t, f.isFull())
			inner.err = nil
			require.NoError(t, write(f))
			require.False(t, f.isFull())
			require.Equal(t, []string{
				`true share full: no space left in W:\socket: free some on the file server, or raise this account's quota; until then the lease cannot be kept`,
				"false the share has space again",
			}, said)
		})
	}
}
