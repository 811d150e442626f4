package lease

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/lease/busy"
)

// maxRead bounds what Read returns, in bytes. Nothing of ours is near it.
const maxRead = 1 << 20

// handle is the part of *os.File a create needs.
type handle interface {
	io.WriteCloser
	Sync() error
}

// system is the operating system as a dir uses it; tests replace single calls.
// Names are those of a Share, "" is LEASE_DIR itself. No call follows a link
// below LEASE_DIR or opens anything but a regular file.
type system struct {
	create func(name string) (handle, error) // exclusively
	open   func(name string) (io.ReadCloser, error)
	list   func(name string) ([]string, error)
	rename func(from, to string) error // over an existing file
	move   func(from, to string) error // never over anything
	mkdir  func(name string) error
	remove func(name string) error
	exists func(name string) error // nil if the name is there
	judge  func(error) verdict

	space    func() (free, total uint64, err error)
	modified func(name string) (time.Time, error)
}

// dir is a Share on any folder the system can reach.
type dir struct {
	base string
	sys  system
}

// NewDir returns the share in a folder: a local one, a mounted one, a drive
// letter or a UNC path. The folder must exist; it is never created.
//
// No context interrupts a system call that is blocked: a call on a share that
// hangs returns when the system gives up, which can take minutes. ctx is looked
// at before a call and between retries. A record is flushed through the handle
// that created it; whether the server's disk has it is the server's promise.
func NewDir(path string) Share {
	base := filepath.Clean(path)
	return &dir{base: base, sys: hostSystem(base)}
}

func (d *dir) String() string { return d.base }

func (d *dir) Create(ctx context.Context, name string, body []byte) error {
	if err := d.check(ctx, name); err != nil {
		return err
	}
	h, v, err := d.createNew(ctx, name)
	if err != nil {
		return d.fail("create", name, v, true, err)
	}
	if err := writeBody(h, body); err != nil {
		if d.judge(err) == vFull {
			err = fmt.Errorf("%w: %s: %w", ErrFull, FullHint(d.base), err)
		}
		return fmt.Errorf("create %s in %s: %w: %w", name, d.base, ErrNoBody, err)
	}
	return nil
}

// createNew opens a new file. A name that is being deleted looks like a denial
// on Windows and like a missing folder on some mounts: that is contention, and
// after some retries the name counts as taken.
func (d *dir) createNew(ctx context.Context, name string) (h handle, v verdict, err error) {
	v, err = d.retry(ctx, busy.Create, func() (err error) {
		h, err = d.sys.create(name)
		if err != nil && d.judge(err) == vNotExist && d.sys.exists(folderOf(name)) == nil {
			return &contention{err}
		}
		return err
	})
	if err == nil || v != vBusy && v != vMaybe {
		return h, v, err
	}
	if d.taken(name, v, err) {
		return nil, vExists, err
	}
	if v == vMaybe {
		v = vDenied
	}
	return nil, v, err
}

// taken tells a name that is taken, or still being deleted, from a real denial.
func (d *dir) taken(name string, v verdict, err error) bool {
	var c *contention
	if errors.As(err, &c) {
		return true
	}
	switch probe := d.sys.exists(name); {
	case probe == nil:
		return true
	case d.judge(probe) == vNotExist:
		return false
	default: // even asking is refused: the name is there
		return v == vBusy || d.sys.exists(folderOf(name)) == nil && d.canList(folderOf(name))
	}
}

func (d *dir) canList(folder string) bool {
	_, err := d.sys.list(folder)
	return err == nil
}

// contention marks "not found" for a name whose folder is there.
type contention struct{ error }

func (c *contention) Unwrap() error { return c.error }

// writeBody writes, flushes and closes. Any failure leaves the body uncertain.
func writeBody(h handle, body []byte) error {
	_, err := h.Write(body)
	if err == nil {
		err = h.Sync()
	}
	return errors.Join(err, h.Close())
}

func (d *dir) Read(ctx context.Context, name string) (body []byte, err error) {
	if err := d.check(ctx, name); err != nil {
		return nil, err
	}
	v, err := d.retry(ctx, busy.Other, func() error {
		body, err = d.readAll(name)
		return err
	})
	if err != nil {
		return nil, d.fail("read", name, v, false, err)
	}
	return body, nil
}

func (d *dir) readAll(name string) ([]byte, error) {
	f, err := d.sys.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxRead))
}

func (d *dir) List(ctx context.Context, name string) (names []string, err error) {
	if err := d.check(ctx, name); err != nil {
		return nil, err
	}
	list := func() error {
		names, err = d.sys.list(name)
		return err
	}
	v, err := d.retry(ctx, busy.Other, list)
	if v == vNotExist && d.sys.exists("") == nil {
		// "No chain" is a grave answer: ask once more with LEASE_DIR known to
		// be there, in case it has just been mounted.
		v, err = d.retry(ctx, busy.Other, list)
	}
	if err != nil {
		return nil, d.fail("list", name, v, false, err)
	}
	return names, nil
}

func (d *dir) Replace(ctx context.Context, name string, body []byte) error {
	if err := d.check(ctx, name); err != nil {
		return err
	}
	temp := path.Join(path.Dir(name), TempName())
	h, err := d.sys.create(temp)
	if err != nil {
		return d.fail("replace", name, d.judge(err), false, err)
	}
	if err := writeBody(h, body); err != nil {
		_ = d.sys.remove(temp)
		return d.fail("replace", name, d.judge(err), false, err)
	}
	v, err := d.retry(ctx, busy.Replace, func() error { return d.sys.rename(temp, name) })
	if err == nil {
		return nil
	}
	_ = d.sys.remove(temp)
	if v == vMaybe {
		return fmt.Errorf("replace %s in %s: %w: it is read-only or another program keeps it open: %w", name, d.base, ErrDenied, err)
	}
	return d.fail("replace", name, v, true, err)
}

func (d *dir) Mkdir(ctx context.Context, name string) error {
	return d.change(ctx, "make folder", name, d.sys.mkdir)
}

func (d *dir) Remove(ctx context.Context, name string) error {
	return d.change(ctx, "remove", name, d.sys.remove)
}

func (d *dir) Move(ctx context.Context, from, to string) error {
	if err := d.check(ctx, to); err != nil {
		return err
	}
	return d.change(ctx, "move to "+to, from, func(name string) error {
		err := d.sys.move(name, to)
		if err != nil && d.judge(err) == vMaybe && d.sys.exists(to) == nil {
			return os.ErrExist
		}
		return err
	})
}

func (d *dir) change(ctx context.Context, what, name string, call func(name string) error) error {
	if err := d.check(ctx, name); err != nil {
		return err
	}
	if v, err := d.retry(ctx, busy.Other, func() error { return call(name) }); err != nil {
		return d.fail(what, name, v, true, err)
	}
	return nil
}

// check returns why a name cannot be used now, or nil.
func (d *dir) check(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %s not asked: %w", ErrUnavailable, d.base, err)
	}
	return CheckName(name)
}

// CheckName returns ErrDenied for a name that does not stay on a share.
func CheckName(name string) error {
	if name != "" && path.Clean("/"+name) != "/"+name || strings.ContainsAny(name, `\:`) {
		return fmt.Errorf("%w: %q is not a name on a share", ErrDenied, name)
	}
	return nil
}

// folderOf is the folder of a name; "" is LEASE_DIR.
func folderOf(name string) string {
	if folder := path.Dir(name); folder != "." {
		return folder
	}
	return ""
}

// fail turns a system error into the contract's. "Not there" holds only while
// LEASE_DIR itself is.
func (d *dir) fail(what, name string, v verdict, change bool, err error) error {
	name = shown(name)
	if v == vNotExist {
		if base := d.sys.exists(""); base != nil {
			return fmt.Errorf("%s %s: %w: %s: %w", what, name, ErrUnavailable, missingHint(d.base), base)
		}
	}
	if hint := v.hint(d.base); hint != "" {
		return fmt.Errorf("%s %s: %w: %s: %w", what, name, v.sentinel(change), hint, err)
	}
	return fmt.Errorf("%s %s in %s: %w: %w", what, name, d.base, v.sentinel(change), err)
}

// shown is a name for people; LEASE_DIR itself has none.
func shown(name string) string {
	if name == "" {
		return "LEASE_DIR"
	}
	return name
}

// retry calls again while the name is busy. Only refusals are retried, never a
// call whose outcome is not known.
func (d *dir) retry(ctx context.Context, pace busy.Pace, call func() error) (v verdict, err error) {
	pace.Do(ctx, func() bool {
		if err = call(); err == nil {
			v = 0
			return false
		}
		v = d.judge(err)
		return v == vBusy || v == vMaybe
	})
	return v, err
}

func (d *dir) judge(err error) verdict {
	var c *contention
	var odd *oddFile
	switch {
	case errors.As(err, &odd):
		return vOdd
	case errors.As(err, &c):
		return vBusy
	case errors.Is(err, os.ErrExist):
		return vExists
	}
	return d.sys.judge(err)
}
