package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/convertfw/floatrelay/internal/daemon"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/internal/service"
)

// endSignals are what means "end, please": Ctrl-C, a stop by the system and,
// which Windows reports as SIGTERM, a closed window, a log-off and a shutdown.
// A terminal that goes away counts too, unless the program was started to
// outlive it (nohup).
func endSignals() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// retryPause is how long a service waits before it tries again to start: at
// boot the network may not be there yet, and a stk.ini may be repaired.
const retryPause = 5 * time.Second

// runManaged runs under the Windows service manager.
func (a *app) runManaged() error {
	var running atomic.Pointer[daemon.Daemon]
	return service.Run(service.Program{
		Run: func(ctx context.Context, journal service.Journal) error {
			return a.serveAgain(ctx, journal, &running)
		},
		Suspend: func() {
			if d := running.Load(); d != nil {
				d.Yield("suspend")
			}
		},
	})
}

// serveAgain is serve for a service: what keeps the daemon from starting is
// written to the event log once and tried again. A daemon that ran and failed
// is an error, so that the service manager starts a fresh process.
func (a *app) serveAgain(ctx context.Context, journal service.Journal, running *atomic.Pointer[daemon.Daemon]) error {
	told := ""
	for {
		err := a.serve(ctx, nil, func(d *daemon.Daemon) {
			running.Store(d)
			go forward(ctx, d, journal)
		})
		if err == nil || ctx.Err() != nil || running.Load() != nil {
			return err
		}
		if text := "cannot start, trying again every " + retryPause.String() + ": " + err.Error(); text != told {
			told = text
			journal(service.Error, text)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retryPause):
		}
	}
}

// journalRate bounds what goes to the event log, which is not ours to fill.
const journalRate = time.Second

// forward writes what an administrator should find in the event log: warnings,
// and the lease coming and going.
func forward(ctx context.Context, d *daemon.Daemon, journal service.Journal) {
	events, cancel := d.Subscribe()
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return
		case ev, open := <-events:
			switch {
			case !open:
				return
			case ev.Warn:
				journal(service.Warning, ev.Text)
			case ev.Fact.Code == reason.TookLease, ev.Fact.Code == reason.ReleasedLease:
				journal(service.Info, ev.Text)
			default:
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(journalRate):
		}
	}
}
