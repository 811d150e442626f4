package smb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cloudsoda/go-smb2"

	"github.com/convertfw/floatrelay/lease"
)

// Options bound what a Share may take.
type Options struct {
	// Call bounds every call, connecting included; zero means 5 s. A change that
	// takes longer is lease.ErrUnknown.
	Call time.Duration
	// Dial bounds the TCP connect alone; zero means 3 s.
	Dial time.Duration
}

// Share is a folder on an SMB server. It is safe for concurrent use.
type Share struct {
	addr address
	call time.Duration
	pool pool

	late atomic.Bool // a create that was given up is still being finished
}

// lateCreate is how long a create that was given up may still be finished.
const lateCreate = 10 * time.Second

// Open returns the share an smb:// address names; nothing is asked of it yet.
// The password goes nowhere but into the login.
func Open(addr, password string, opt Options) (*Share, error) {
	a, err := parse(addr)
	if err != nil {
		return nil, fmt.Errorf("read the address of the share: %w", err)
	}
	if opt.Call <= 0 {
		opt.Call = 5 * time.Second
	}
	if opt.Dial <= 0 {
		opt.Dial = 3 * time.Second
	}
	return &Share{addr: a, call: opt.Call, pool: pool{addr: a, password: password, dialTime: opt.Dial}}, nil
}

// String is the address without the password.
func (s *Share) String() string { return s.addr.String() }

// Close ends the idle connections. Calls under way are left to end by
// themselves; later ones fail with lease.ErrUnavailable.
func (s *Share) Close() error {
	s.pool.close()
	return nil
}

// failure is why a call did not succeed.
type failure struct {
	verdict
	sent bool // something went to the server, so a change may have been made
	err  error
}

// do runs one exchange on a connection of its own. A connection kept from
// before may turn out dead; the exchange is begun again on a new one only if
// that cannot do anything twice.
func (s *Share) do(ctx context.Context, change bool, f func(*smb2.Share) error) *failure {
	return s.doBy(ctx, change, s.exchange, f)
}

// exchanger carries out one exchange on a connection it then disposes of.
type exchanger func(ctx context.Context, c *session, f func(*smb2.Share) error) error

func (s *Share) doBy(ctx context.Context, change bool, exchange exchanger, f func(*smb2.Share) error) *failure {
	for again := true; ; again = false {
		c, reused, err := s.pool.take(ctx)
		if err != nil {
			return &failure{err: err}
		}
		before := c.wire.wrote.Load()
		err = exchange(ctx, c, f)
		if answered(err) {
			if err == nil {
				return nil
			}
			return &failure{verdict: judge(err), sent: true, err: err}
		}
		sent := c.wire.wrote.Load() != before || errors.Is(err, errLate)
		refused := judge(err) == vExpired
		harmless := refused || reused && (!change || !sent)
		if again && harmless && ctx.Err() == nil && !errors.Is(err, errHalf) {
			continue
		}
		return &failure{verdict: vBroken, sent: sent && !refused, err: err}
	}
}

// errHalf marks a change that was made in part and must not be begun again.
var errHalf = errors.New("done in part")

// exchange runs f and gives the connection back, or ends it if it is no good
// any more. It returns when ctx ends: closing the connection unblocks f.
func (s *Share) exchange(ctx context.Context, c *session, f func(*smb2.Share) error) error {
	stop := context.AfterFunc(ctx, c.close)
	err := f(c.fs.WithContext(ctx))
	if stop() && answered(err) {
		s.pool.give(c)
	} else {
		s.pool.drop(c)
	}
	return err
}

// errLate says that an exchange goes on although its caller gave up.
var errLate = errors.New("still under way")

// finish is exchange for a create. The name and the body are two requests: a
// create given up in between would leave a record that nobody can read, and the
// site without a relay for TTL_MAX. So it is seen through after its caller has
// been told that the outcome is unknown, one at a time.
func (s *Share) finish(ctx context.Context, c *session, f func(*smb2.Share) error) error {
	inner, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.call+lateCreate)
	done := make(chan error, 1)
	gone := make(chan bool, 1) // whether the caller left
	go func() {
		defer cancel()
		done <- s.exchange(inner, c, f)
		if <-gone {
			s.late.Store(false)
		}
	}()
	select {
	case err := <-done:
		gone <- false
		return err
	case <-ctx.Done():
	}
	if s.late.CompareAndSwap(false, true) {
		gone <- true
		s.pool.forget()
		return fmt.Errorf("%w: %w", errLate, ctx.Err())
	}
	cancel()
	gone <- false
	return <-done
}

// begin checks the names and bounds the call.
func (s *Share) begin(ctx context.Context, names ...string) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("%w: %s not asked: %w", lease.ErrUnavailable, s, err)
	}
	for _, name := range names {
		if err := lease.CheckName(name); err != nil {
			return nil, nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.call)
	return ctx, cancel, nil
}

// full is a name as the server knows it.
func (s *Share) full(name string) string {
	return strings.ReplaceAll(strings.Trim(s.addr.folder+"/"+name, "/"), "/", `\`)
}

// fail turns a failure into the contract's error. "Not there" holds only while
// LEASE_DIR itself is.
func (s *Share) fail(ctx context.Context, what, name string, change bool, f *failure) error {
	if name == "" {
		name = "LEASE_DIR" // the folder itself has no name
	}
	if f.verdict == vNotExist {
		if err := s.baseThere(ctx); err != nil {
			return fmt.Errorf("%s %s: %w", what, name, err)
		}
	}
	hint, sentinel := s.meaning(change, f)
	if sentinel == nil { // the pool's error says everything
		return fmt.Errorf("%s %s: %w", what, name, f.err)
	}
	return fmt.Errorf("%s %s: %w: %s: %w", what, name, sentinel, hint, f.err)
}

// meaning is a failure in words and as the contract's error; without one the
// failure's own error is the contract's already.
func (s *Share) meaning(change bool, f *failure) (hint string, sentinel error) {
	switch f.verdict {
	case vExists:
		return s.String(), lease.ErrExists
	case vNotExist:
		return s.String(), lease.ErrNotExist
	case vDenied:
		if change {
			return fmt.Sprintf("%s has no write access to %s", s.addr.who(), s), lease.ErrDenied
		}
		return fmt.Sprintf("%s has no access to %s", s.addr.who(), s), lease.ErrDenied
	case vFull:
		return lease.FullHint(s.String()), lease.ErrFull
	case vOdd:
		return s.String(), lease.ErrIrregular
	case vBusy:
		return "another program keeps the file open", lease.ErrUnavailable
	}
	switch {
	case change && f.sent:
		return fmt.Sprintf("the connection to %s broke before the answer", s.addr.server()), lease.ErrUnknown
	case f.sent:
		return fmt.Sprintf("%s does not answer", s.addr.server()), lease.ErrUnavailable
	case errors.Is(f.err, lease.ErrUnavailable) || errors.Is(f.err, lease.ErrDenied):
		return "", nil
	}
	return fmt.Sprintf("the connection to %s broke", s.addr.server()), lease.ErrUnavailable
}

// baseThere returns nil if LEASE_DIR is a folder that can be asked.
func (s *Share) baseThere(ctx context.Context) error {
	isDir := false
	f := s.do(ctx, false, func(fs *smb2.Share) error {
		st, err := fs.Stat(s.full(""))
		isDir = err == nil && st.IsDir()
		return err
	})
	switch {
	case f == nil && isDir:
		return nil
	case f == nil || f.verdict == vNotExist:
		return fmt.Errorf("%w: folder missing: %s does not exist; it is never created by floatrelay", lease.ErrUnavailable, s)
	}
	return fmt.Errorf("%w: cannot tell whether %s is there: %w", lease.ErrUnavailable, s, f.err)
}
