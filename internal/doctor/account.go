package doctor

import (
	"context"
	"errors"

	"github.com/convertfw/floatrelay/internal/service"
)

// judgeAccount tells of a folder that this session reads and a service would
// not find. It is a warning, because a daemon started from this session
// reads it too, as long as the session lasts.
func judgeAccount(ctx context.Context, dir string, account func(dir string) error, tell Tell) {
	if account == nil {
		return
	}
	err := bounded(ctx, func() error { return account(dir) })
	var refused *service.AccountError
	if !errors.As(err, &refused) {
		return
	}
	tell.Warn(refused.Do, "LEASE_DIR=%s is there for this session, but not for a service: %s", dir, refused.Why)
}
