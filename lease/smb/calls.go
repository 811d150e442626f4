package smb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/cloudsoda/go-smb2"

	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/lease/busy"
)

const (
	maxRead   = 1 << 20 // bytes; nothing of ours is near it
	readChunk = 64 << 10
)

// Create makes a new file: FILE_CREATE, then the body and a flush through the
// same handle.
func (s *Share) Create(ctx context.Context, name string, body []byte) error {
	ctx, cancel, err := s.begin(ctx, name)
	if err != nil {
		return err
	}
	defer cancel()
	body = bytes.Clone(body) // it may be written after this returns
	f := retry(ctx, busy.Create, vBusy, func() *failure {
		return s.doBy(ctx, true, s.finish, func(fs *smb2.Share) error {
			if err := s.way(fs, name); err != nil {
				return err
			}
			return createNew(fs, s.full(name), body)
		})
	})
	switch {
	case f == nil:
		return nil
	case errors.Is(f.err, errHalf) && f.verdict == vFull:
		return fmt.Errorf("create %s in %s: %w: %w: %s: %w", name, s, lease.ErrNoBody, lease.ErrFull, lease.FullHint(s.String()), f.err)
	case errors.Is(f.err, errHalf):
		return fmt.Errorf("create %s in %s: %w: %w", name, s, lease.ErrNoBody, f.err)
	case f.verdict == vBusy: // still being deleted: the name is taken
		f.verdict = vExists
	}
	return s.fail(ctx, "create", name, true, f)
}

// createNew fails with errHalf once the file is there.
func createNew(fs *smb2.Share, full string, body []byte) error {
	h, err := fs.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = h.WriteAt(body, 0)
	if err == nil {
		err = h.Sync()
	}
	// Once the flush is acknowledged the body is there, whatever becomes of the
	// handle; a lost connection shows in the next call.
	_ = h.Close()
	if err != nil {
		return fmt.Errorf("%w: write the body: %w", errHalf, err)
	}
	return nil
}

// Read returns a file, or the first MiB of it.
func (s *Share) Read(ctx context.Context, name string) (body []byte, err error) {
	ctx, cancel, err := s.begin(ctx, name)
	if err != nil {
		return nil, err
	}
	defer cancel()
	f := s.retry(ctx, false, func(fs *smb2.Share) error {
		if err = s.way(fs, name); err == nil {
			body, err = readAll(fs, s.full(name))
		}
		return s.explain(fs, name, false, err)
	})
	if f != nil {
		return nil, s.fail(ctx, "read", name, false, f)
	}
	return body, nil
}

// absentReads is how often a name must be missing before it counts as not
// there: Samba, asked for a file while another is renamed over it, sometimes
// finds neither.
const absentReads = 3

func readAll(fs *smb2.Share, full string) (body []byte, err error) {
	for range absentReads {
		if body, err = readOnce(fs, full); judge(err) != vNotExist {
			break
		}
	}
	return body, err
}

// readOnce asks for whole chunks: a record comes in one answer.
func readOnce(fs *smb2.Share, full string) ([]byte, error) {
	h, err := openFile(fs, full)
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.Close() }() // the body is what counts; a lost connection shows in the next call
	body := []byte{}
	chunk := make([]byte, readChunk)
	for len(body) < maxRead {
		n, err := h.ReadAt(chunk, int64(len(body)))
		body = append(body, chunk[:n]...)
		if errors.Is(err, io.EOF) || err == nil && n < len(chunk) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return body, nil
}

// List returns the names in a folder.
func (s *Share) List(ctx context.Context, dir string) (names []string, err error) {
	ctx, cancel, err := s.begin(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer cancel()
	f := s.retry(ctx, false, func(fs *smb2.Share) error {
		if err = s.way(fs, dir); err == nil {
			err = s.folder(fs, dir)
		}
		if err == nil {
			names, err = list(fs, s.full(dir))
		}
		return s.explain(fs, dir, true, err)
	})
	if f != nil {
		return nil, s.fail(ctx, "list", dir, false, f)
	}
	return names, nil
}

func list(fs *smb2.Share, full string) ([]string, error) {
	infos, err := fs.ReadDir(full)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(infos))
	for _, i := range infos {
		if n := i.Name(); n != "." && n != ".." {
			names = append(names, n)
		}
	}
	return names, nil
}

// Replace writes a temporary file and renames it over name, which the server
// does in one step.
func (s *Share) Replace(ctx context.Context, name string, body []byte) error {
	ctx, cancel, err := s.begin(ctx, name)
	if err != nil {
		return err
	}
	defer cancel()
	var temp string
	f := s.do(ctx, false, func(fs *smb2.Share) error {
		if err := s.way(fs, name); err != nil {
			return err
		}
		temp = path.Join(path.Dir(name), lease.TempName()) // a new one per attempt: the last may have arrived
		return createNew(fs, s.full(temp), body)
	})
	if f != nil {
		if f.sent && f.verdict == vBroken || errors.Is(f.err, errHalf) {
			s.discard(ctx, temp)
		}
		return s.fail(ctx, "replace", name, f.verdict == vDenied, f)
	}
	// "Denied" is also what a server says of a target that is open.
	f = retry(ctx, busy.Replace, vDenied, func() *failure {
		return s.do(ctx, true, func(fs *smb2.Share) error { return fs.Rename(s.full(temp), s.full(name)) })
	})
	if f == nil {
		return nil
	}
	s.discard(ctx, temp)
	if f.verdict == vDenied || f.verdict == vBusy {
		return fmt.Errorf("replace %s in %s: %w: it is read-only or another program keeps it open: %w", name, s, lease.ErrDenied, f.err)
	}
	return s.fail(ctx, "replace", name, true, f)
}

// discard removes a temporary file if that can be done at once; housekeeping
// finds the others.
func (s *Share) discard(ctx context.Context, temp string) {
	s.do(ctx, true, func(fs *smb2.Share) error { return fs.Remove(s.full(temp)) })
}

// Mkdir makes one folder.
func (s *Share) Mkdir(ctx context.Context, name string) error {
	return s.change(ctx, "make folder", name, func(fs *smb2.Share) error { return fs.Mkdir(s.full(name), 0o777) })
}

// Remove deletes a file or an empty folder. A link that the server tells of
// stays: the protocol library, refused, would change what is behind it.
func (s *Share) Remove(ctx context.Context, name string) error {
	return s.change(ctx, "remove", name, func(fs *smb2.Share) error {
		attrs, err := attributes(fs, s.full(name))
		if err == nil && attrs&reparsePoint != 0 {
			err = oddAttributes(name, attrs, false)
		}
		if err != nil {
			return err
		}
		return fs.Remove(s.full(name))
	})
}

func (s *Share) change(ctx context.Context, what, name string, call func(*smb2.Share) error) error {
	ctx, cancel, err := s.begin(ctx, name)
	if err != nil {
		return err
	}
	defer cancel()
	f := s.retry(ctx, true, func(fs *smb2.Share) error {
		if err := s.way(fs, name); err != nil {
			return err
		}
		return call(fs)
	})
	if f != nil {
		return s.fail(ctx, what, name, true, f)
	}
	return nil
}

// Move renames a folder that has something in it. See the package's limits for
// why it looks first.
func (s *Share) Move(ctx context.Context, from, to string) error {
	ctx, cancel, err := s.begin(ctx, from, to)
	if err != nil {
		return err
	}
	defer cancel()
	var taken bool
	f := s.do(ctx, false, func(fs *smb2.Share) error {
		taken = false
		if err := errors.Join(s.way(fs, from), s.way(fs, to)); err != nil {
			return err
		}
		names, err := list(fs, s.full(from))
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return fmt.Errorf("%w: the folder is empty, which this share cannot move safely", os.ErrPermission)
		}
		_, err = fs.Lstat(s.full(to))
		taken = err == nil
		if judge(err) == vNotExist {
			return nil
		}
		return err
	})
	if f != nil {
		return s.fail(ctx, "move", from, false, f)
	}
	if !taken {
		f = s.retry(ctx, true, func(fs *smb2.Share) error {
			return refusedMove(fs, s.full(to), fs.Rename(s.full(from), s.full(to)))
		})
		if f == nil {
			return nil
		}
	} else {
		f = &failure{verdict: vExists, err: os.ErrExist}
	}
	return s.fail(ctx, "move to "+to, from, true, f)
}

// refusedMove tells a target that appeared meanwhile from other refusals: the
// server has said no, so asking is safe.
func refusedMove(fs *smb2.Share, to string, err error) error {
	if err == nil || !answered(err) {
		return err
	}
	if _, there := fs.Lstat(to); there == nil {
		return os.ErrExist
	}
	return err
}

// retry makes a call, and again while the name is busy.
func (s *Share) retry(ctx context.Context, change bool, call func(*smb2.Share) error) *failure {
	return retry(ctx, busy.Other, vBusy, func() *failure { return s.do(ctx, change, call) })
}

// retry calls again while the name is busy, or the verdict is also.
func retry(ctx context.Context, pace busy.Pace, also verdict, call func() *failure) (f *failure) {
	pace.Do(ctx, func() bool {
		f = call()
		return f != nil && (f.verdict == vBusy || f.verdict == also) && !errors.Is(f.err, errHalf)
	})
	return f
}
