package lease

import (
	"context"
	"errors"
)

// The ways a call on a share can fail. Callers test them with errors.Is;
// backends wrap them with the path and what to do about it.
var (
	// ErrExists: the name is already taken. For an exclusive create this is the
	// normal way to lose a race.
	ErrExists = errors.New("already exists")
	// ErrNotExist: the share answered, and the name is not there.
	ErrNotExist = errors.New("does not exist")
	// ErrUnavailable: the share could not be asked, or LEASE_DIR itself is
	// missing. It never means "there is no lease".
	ErrUnavailable = errors.New("share unavailable")
	// ErrDenied: the share answered, and this account may not do that.
	ErrDenied = errors.New("access denied")
	// ErrFull: the share answered that there is no space, on its disk or for
	// this account. It is an ErrDenied too: nothing was changed.
	ErrFull error = full{}
	// ErrIrregular: the name leads through a link, or something stands there that
	// is no regular file (or no folder, where one belongs). Nothing was entered or
	// changed. It is an ErrDenied too.
	ErrIrregular error = irregular{}
	// ErrUnknown: the request may or may not have been carried out, now or
	// later.
	ErrUnknown = errors.New("outcome unknown")
	// ErrNoBody: the exclusive create succeeded but its body was not (or not
	// certainly) written. The name belongs to the caller for ever.
	ErrNoBody = errors.New("created without a body")
)

type full struct{}

func (full) Error() string        { return "share full" }
func (full) Is(target error) bool { return target == ErrDenied }

type irregular struct{}

func (irregular) Error() string        { return "not a regular file or folder" }
func (irregular) Is(target error) bool { return target == ErrDenied }

// FullHint says in words what a full share means and what to do about it.
func FullHint(share string) string {
	return "no space left in " + share + ": free some on the file server, or raise this account's quota"
}

// Share is the folder that holds the lease (LEASE_DIR). Names are relative,
// slash-separated and ASCII; a name that leads outside is ErrDenied. Every call
// may block as long as the share does; backends honour ctx where the system
// lets them and return ErrUnknown when a change may still happen after they
// gave up.
//
// LEASE_DIR itself may be reached through links; below it none is followed, and
// nothing but regular files is opened: ErrIrregular. No FIFO or device blocks a
// call.
type Share interface {
	// Create makes a new file with exactly this body, or fails with ErrExists.
	// It is never retried once its outcome is unknown. ErrNoBody means the
	// name was won without its body.
	Create(ctx context.Context, name string, body []byte) error
	// Read returns the whole file, or ErrNotExist. Of a file above 1 MiB, which
	// cannot be ours, it may return the beginning only.
	Read(ctx context.Context, name string) ([]byte, error)
	// List returns the names in a folder, unsorted; ErrNotExist if the folder
	// is missing.
	List(ctx context.Context, dir string) ([]string, error)
	// Replace makes name hold body, so that a reader sees the old content or
	// the new, never a mixture. A link, FIFO or socket gives way to the file.
	Replace(ctx context.Context, name string, body []byte) error
	// Mkdir creates one folder, or fails with ErrExists.
	Mkdir(ctx context.Context, name string) error
	// Move renames a folder; it fails with ErrExists if the target is there.
	Move(ctx context.Context, from, to string) error
	// Remove deletes a file or an empty folder, or fails with ErrNotExist. A
	// folder with something in it always stays: ErrExists. Of a link it removes
	// the link alone.
	Remove(ctx context.Context, name string) error
	// String names the share for logs: the path or URL without secrets.
	String() string
}
