package smb

import (
	"fmt"
	"strings"

	"github.com/cloudsoda/go-smb2"

	"github.com/convertfw/floatrelay/lease"
)

// Attributes of a file (MS-FSCC 2.6), as far as they matter here.
const (
	directory    = 0x10
	reparsePoint = 0x400
)

// way returns lease.ErrIrregular unless every folder on the way to a name is a
// folder and no link, as the server tells it. LEASE_DIR itself may be one.
func (s *Share) way(fs *smb2.Share, name string) error {
	for i, c := range name {
		if c == '/' {
			if err := s.folder(fs, name[:i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// folder returns lease.ErrIrregular unless name is a folder and no link.
func (s *Share) folder(fs *smb2.Share, name string) error {
	if name == "" {
		return nil
	}
	attrs, err := attributes(fs, s.full(name))
	if err != nil {
		return err
	}
	return oddAttributes(name, attrs, true)
}

// attributes asks for a name without following it.
func attributes(fs *smb2.Share, full string) (uint32, error) {
	st, err := fs.Lstat(full)
	if err != nil {
		return 0, err
	}
	if sys, ok := st.Sys().(*smb2.FileStat); ok {
		return sys.FileAttributes, nil
	}
	return 0, fmt.Errorf("%w: the server tells no attributes of %s", lease.ErrIrregular, full)
}

// oddAttributes returns lease.ErrIrregular unless the attributes are those of a
// regular file, or of a folder.
func oddAttributes(name string, attrs uint32, folder bool) error {
	switch isFolder := attrs&directory != 0; {
	case attrs&reparsePoint != 0:
		return lease.Irregular(name, "a link or another reparse point", folder)
	case isFolder && !folder:
		return lease.Irregular(name, "a folder", folder)
	case !isFolder && folder:
		return lease.Irregular(name, "a file", folder)
	}
	return nil
}

// openFile opens a file for reading. The protocol library follows a symbolic
// link that the server reports; what it then opened bears another name.
func openFile(fs *smb2.Share, full string) (*smb2.File, error) {
	h, err := fs.Open(full)
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(h.Name(), full) {
		_ = h.Close()
		return nil, lease.Irregular(full, "a link", false)
	}
	return h, nil
}

// explain looks at what stands in the way of a call that the server refused in
// words of its own.
func (s *Share) explain(fs *smb2.Share, name string, folder bool, err error) error {
	if v := judge(err); err == nil || !answered(err) || v == vNotExist || v == vBusy || v == vOdd || name == "" {
		return err
	}
	attrs, asked := attributes(fs, s.full(name))
	if asked != nil {
		return err
	}
	if odd := oddAttributes(name, attrs, folder); odd != nil {
		return odd
	}
	return err
}
