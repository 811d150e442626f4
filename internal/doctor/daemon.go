package doctor

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
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

func daemonCheck(cfg config.Config, status ask, open func() (lease.Share, error)) func(context.Context, Tell) {
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
		for _, x := range []struct{ key, runs, ini string }{
			{"KMSN", s.KMSN, cfg.KMSN}, {"STATION", s.Station, cfg.Station},
			{"RELAY_TOKEN (fingerprint)", s.Token, cfg.TokenPrint()}, {"LEASE_DIR", s.Share.Path, shareName(open)},
		} {
			if x.runs != "" && x.ini != "" && x.runs != x.ini {
				tell.Fail("restart the daemon if stk.ini is right; otherwise correct stk.ini, or name the other one with --config",
					"the daemon that answers runs with %s=%s, stk.ini says %s", x.key, x.runs, x.ini)
			}
		}
		if !s.Eligible {
			tell.Warn(cmp.Or(s.Do, "until the cause is gone another PC has to lead"), "this PC may not lead: %s", s.Note)
		}
	}
}

// shareName is LEASE_DIR as the daemon shows it, or empty.
func shareName(open func() (lease.Share, error)) string {
	s, err := open()
	if err != nil {
		return ""
	}
	return s.String()
}
