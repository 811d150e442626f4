package doctor

import (
	"context"
	"errors"
	"sync"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
)

// ask returns what the daemon says; false if there is none.
type ask func(ctx context.Context) (localapi.Status, error)

// askOnce shares one answer among the checks.
func askOnce(status ask) ask {
	var once sync.Once
	var s localapi.Status
	var err error
	return func(ctx context.Context) (localapi.Status, error) {
		once.Do(func() {
			if status == nil {
				err = localapi.ErrNoDaemon
				return
			}
			s, err = status(ctx)
		})
		return s, err
	}
}

func daemonCheck(cfg config.Config, status ask) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		s, err := status(ctx)
		switch {
		case errors.Is(err, localapi.ErrNoDaemon):
			tell.Warn("start it with 'floatrelay run' or as a service", "%v", err)
			return
		case err != nil:
			tell.Fail("restart the daemon", "%v", err)
			return
		}
		tell.OK("the daemon answers at %s: %s, epoch %d, members alive: %d", cfg.APIAddr, s.Role, s.Epoch, s.Gossip.Alive)
		if s.Token != "" && s.Token != cfg.Token.String() {
			tell.Fail("restart the daemon", "the daemon uses token %s, stk.ini says %s", s.Token, cfg.Token)
		}
		if !s.Eligible {
			tell.Warn("until the cause is gone another PC has to lead", "this PC may not lead: %s", s.Note)
		}
	}
}
