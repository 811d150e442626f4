package smb

import (
	"context"
	"io"
	"time"

	"github.com/cloudsoda/go-smb2"

	"github.com/convertfw/floatrelay/lease"
)

var _ lease.Inspector = (*Share)(nil)

// Space implements lease.Inspector.
func (s *Share) Space(ctx context.Context) (free, total uint64, err error) {
	ctx, cancel, err := s.begin(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer cancel()
	f := s.do(ctx, false, func(fs *smb2.Share) error {
		info, err := fs.Statfs(s.full(""))
		if err == nil {
			free, total = info.AvailableBlockCount()*info.BlockSize(), info.TotalBlockCount()*info.BlockSize()
		}
		return err
	})
	if f != nil {
		return 0, 0, s.fail(ctx, "ask for the free space of", "the share", false, f)
	}
	return free, total, nil
}

// Modified implements lease.Inspector.
func (s *Share) Modified(ctx context.Context, name string) (at time.Time, err error) {
	ctx, cancel, err := s.begin(ctx, name)
	if err != nil {
		return at, err
	}
	defer cancel()
	f := s.do(ctx, false, func(fs *smb2.Share) error {
		if err := s.way(fs, name); err != nil {
			return err
		}
		st, err := fs.Lstat(s.full(name))
		if err == nil {
			at = st.ModTime()
		}
		return err
	})
	if f != nil {
		return at, s.fail(ctx, "ask for the time of", name, false, f)
	}
	return at, nil
}

// Hold implements lease.Inspector. The file is open on a connection of its own,
// which ends with it.
func (s *Share) Hold(ctx context.Context, name string) (io.Closer, error) {
	ctx, cancel, err := s.begin(ctx, name)
	if err != nil {
		return nil, err
	}
	defer cancel()
	var held *session
	keep := func(ctx context.Context, c *session, f func(*smb2.Share) error) error {
		err := f(c.fs.WithContext(ctx))
		if held = c; err != nil {
			s.pool.drop(c)
		}
		return err
	}
	f := s.doBy(ctx, false, keep, func(fs *smb2.Share) error {
		err := s.way(fs, name)
		if err == nil {
			_, err = openFile(fs, s.full(name))
		}
		return err
	})
	if f != nil {
		return nil, s.fail(ctx, "open", name, false, f)
	}
	return closing(held.close), nil
}

type closing func()

// Close implements io.Closer.
func (c closing) Close() error {
	c()
	return nil
}
