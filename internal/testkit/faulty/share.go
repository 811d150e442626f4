package faulty

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/convertfw/floatrelay/lease"
)

// Kind is which call of a share is meant.
type Kind uint8

// The kinds of calls.
const (
	Create Kind = iota
	Read
	List
	Replace
	Mkdir
	Move
	Remove
)

// String returns the kind's lower-case name.
func (k Kind) String() string {
	return [...]string{"create", "read", "list", "replace", "mkdir", "move", "remove"}[k]
}

// Changes reports whether calls of this kind change the share.
func (k Kind) Changes() bool { return k != Read && k != List }

// Call is one call on its way to the share.
type Call struct {
	Kind Kind
	Name string
	To   string // target of a move
	Body []byte // of a create or replace
}

// Injector decides what becomes of a call. next carries it out, possibly
// altered; an injector may leave it out, or call it later.
type Injector interface {
	Inject(ctx context.Context, call Call, next Next) error
	String() string
}

// Next carries a call on, to the next injector or to the share itself.
type Next func(ctx context.Context, call Call) error

// Share is a lease.Share with faults. The first injector is the outermost: it
// sees a call first and its result last.
type Share struct {
	inner     lease.Share
	injectors []Injector
	calls     atomic.Int64
	late      sync.WaitGroup
}

var _ lease.Share = (*Share)(nil)

// New wraps a share.
func New(inner lease.Share, injectors ...Injector) *Share {
	s := &Share{inner: inner, injectors: injectors}
	for _, in := range injectors {
		if b, ok := in.(interface{ bind(*sync.WaitGroup) }); ok {
			b.bind(&s.late)
		}
	}
	return s
}

// Calls returns how many calls there have been.
func (s *Share) Calls() int { return int(s.calls.Load()) }

// Wait returns when every change that was to be applied late has been.
func (s *Share) Wait() { s.late.Wait() }

// String names the share and the faults.
func (s *Share) String() string {
	if len(s.injectors) == 0 {
		return s.inner.String()
	}
	names := make([]string, len(s.injectors))
	for i, in := range s.injectors {
		names[i] = in.String()
	}
	return fmt.Sprintf("%s with %s", s.inner, strings.Join(names, ", "))
}

// do sends a call through all injectors; last carries it out.
func (s *Share) do(ctx context.Context, call Call, last Next) error {
	s.calls.Add(1)
	next := last
	for i := len(s.injectors) - 1; i >= 0; i-- {
		in, inner := s.injectors[i], next
		next = func(ctx context.Context, call Call) error { return in.Inject(ctx, call, inner) }
	}
	return next(ctx, call)
}

// Create implements lease.Share.
func (s *Share) Create(ctx context.Context, name string, body []byte) error {
	return s.do(ctx, Call{Kind: Create, Name: name, Body: body}, func(ctx context.Context, c Call) error {
		return s.inner.Create(ctx, c.Name, c.Body)
	})
}

// Read implements lease.Share.
func (s *Share) Read(ctx context.Context, name string) (body []byte, err error) {
	err = s.do(ctx, Call{Kind: Read, Name: name}, func(ctx context.Context, c Call) (err error) {
		body, err = s.inner.Read(ctx, c.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// List implements lease.Share.
func (s *Share) List(ctx context.Context, dir string) (names []string, err error) {
	err = s.do(ctx, Call{Kind: List, Name: dir}, func(ctx context.Context, c Call) (err error) {
		names, err = s.inner.List(ctx, c.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

// Replace implements lease.Share.
func (s *Share) Replace(ctx context.Context, name string, body []byte) error {
	return s.do(ctx, Call{Kind: Replace, Name: name, Body: body}, func(ctx context.Context, c Call) error {
		return s.inner.Replace(ctx, c.Name, c.Body)
	})
}

// Mkdir implements lease.Share.
func (s *Share) Mkdir(ctx context.Context, name string) error {
	return s.do(ctx, Call{Kind: Mkdir, Name: name}, func(ctx context.Context, c Call) error {
		return s.inner.Mkdir(ctx, c.Name)
	})
}

// Move implements lease.Share.
func (s *Share) Move(ctx context.Context, from, to string) error {
	return s.do(ctx, Call{Kind: Move, Name: from, To: to}, func(ctx context.Context, c Call) error {
		return s.inner.Move(ctx, c.Name, c.To)
	})
}

// Remove implements lease.Share.
func (s *Share) Remove(ctx context.Context, name string) error {
	return s.do(ctx, Call{Kind: Remove, Name: name}, func(ctx context.Context, c Call) error {
		return s.inner.Remove(ctx, c.Name)
	})
}
