package bubble

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/testkit/sharetest"
	"github.com/convertfw/floatrelay/lease"
)

// server is a file server in memory. What is there is decided under one lock,
// in an instant; how long a call takes is the business of a handle.
type server struct {
	mu      sync.Mutex
	gone    bool // LEASE_DIR is missing
	files   map[string][]byte
	dirs    map[string]bool
	created []made // every file ever created, in order
}

// made is one file as it was created.
type made struct {
	name string
	body []byte
	at   time.Time
}

func newServer() *server {
	return &server{files: map[string][]byte{}, dirs: map[string]bool{"": true}}
}

// handle is one host's way to the server: a lease.Share.
type handle struct {
	*server
	min, max time.Duration // how long a call takes: half before it happens, half after
}

var _ lease.Share = handle{}

// visit makes the way to the server and back around do.
func (h handle) visit(ctx context.Context, names []string, do func() error) error {
	for _, name := range names {
		if name == "." || !fs.ValidPath(name) || strings.ContainsAny(name, `\:`) {
			return fmt.Errorf("%q leads outside: %w", name, lease.ErrDenied)
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", lease.ErrUnavailable, ctx.Err())
	}
	way := h.min
	if h.max > h.min {
		way += rand.N(h.max - h.min)
	}
	time.Sleep(way / 2)
	defer time.Sleep(way / 2)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return fmt.Errorf("the folder is missing: %w", lease.ErrUnavailable)
	}
	return do()
}

// there reports whether a name exists; the lock is held.
func (s *server) there(name string) bool {
	_, file := s.files[name]
	return file || s.dirs[name]
}

// parent is the folder a name is in.
func parent(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

// free reports why a name cannot be made; the lock is held.
func (s *server) free(name string) error {
	switch {
	case !s.dirs[parent(name)]:
		return fmt.Errorf("folder of %s: %w", name, lease.ErrNotExist)
	case s.there(name):
		return fmt.Errorf("%s: %w", name, lease.ErrExists)
	}
	return nil
}

func (h handle) Create(ctx context.Context, name string, body []byte) error {
	return h.visit(ctx, []string{name}, func() error {
		if err := h.free(name); err != nil {
			return err
		}
		h.files[name] = slices.Clone(body)
		h.created = append(h.created, made{name, h.files[name], time.Now()})
		return nil
	})
}

func (h handle) Read(ctx context.Context, name string) (body []byte, err error) {
	err = h.visit(ctx, []string{name}, func() error {
		b, ok := h.files[name]
		if !ok {
			return fmt.Errorf("%s: %w", name, lease.ErrNotExist)
		}
		body = slices.Clone(b)
		return nil
	})
	return body, err
}

func (h handle) List(ctx context.Context, dir string) (names []string, err error) {
	check := []string{dir}
	if dir == "" {
		check = nil
	}
	err = h.visit(ctx, check, func() error {
		if !h.dirs[dir] {
			return fmt.Errorf("%s: %w", dir, lease.ErrNotExist)
		}
		for name := range h.files {
			if parent(name) == dir {
				names = append(names, path.Base(name))
			}
		}
		for name := range h.dirs {
			if name != "" && parent(name) == dir {
				names = append(names, path.Base(name))
			}
		}
		return nil
	})
	return names, err
}

func (h handle) Replace(ctx context.Context, name string, body []byte) error {
	return h.visit(ctx, []string{name}, func() error {
		switch {
		case !h.dirs[parent(name)]:
			return fmt.Errorf("folder of %s: %w", name, lease.ErrNotExist)
		case h.dirs[name]:
			return fmt.Errorf("%s is a folder: %w", name, lease.ErrDenied)
		}
		h.files[name] = slices.Clone(body)
		return nil
	})
}

func (h handle) Mkdir(ctx context.Context, name string) error {
	return h.visit(ctx, []string{name}, func() error {
		if err := h.free(name); err != nil {
			return err
		}
		h.dirs[name] = true
		return nil
	})
}

func (h handle) Move(ctx context.Context, from, to string) error {
	return h.visit(ctx, []string{from, to}, func() error {
		if !h.dirs[from] {
			return fmt.Errorf("%s: %w", from, lease.ErrNotExist)
		}
		if err := h.free(to); err != nil {
			return err
		}
		moved := func(name string) (string, bool) {
			rest, under := strings.CutPrefix(name, from)
			return to + rest, under && (rest == "" || rest[0] == '/')
		}
		for name := range maps.Clone(h.dirs) {
			if now, ok := moved(name); ok {
				delete(h.dirs, name)
				h.dirs[now] = true
			}
		}
		for name, body := range maps.Clone(h.files) {
			if now, ok := moved(name); ok {
				delete(h.files, name)
				h.files[now] = body
			}
		}
		return nil
	})
}

func (h handle) Remove(ctx context.Context, name string) error {
	return h.visit(ctx, []string{name}, func() error {
		if !h.there(name) {
			return fmt.Errorf("%s: %w", name, lease.ErrNotExist)
		}
		for other := range h.files {
			if h.dirs[name] && parent(other) == name {
				return fmt.Errorf("%s is not empty: %w", name, lease.ErrExists)
			}
		}
		for other := range h.dirs {
			if parent(other) == name {
				return fmt.Errorf("%s is not empty: %w", name, lease.ErrExists)
			}
		}
		delete(h.files, name)
		delete(h.dirs, name)
		return nil
	})
}

func (h handle) String() string { return "a server in memory" }

// TestServer_KeepsTheContract: the made-up server must not be kinder, or
// stricter, than a share may be.
func TestServer_KeepsTheContract(t *testing.T) {
	sharetest.Run(t, sharetest.Target{
		Fresh: func(testing.TB) func() lease.Share {
			s := newServer()
			return func() lease.Share { return handle{server: s} }
		},
		Missing: func(testing.TB) lease.Share {
			s := newServer()
			s.gone = true
			return handle{server: s}
		},
	})
}
