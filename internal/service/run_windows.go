package service

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/eventlog"
)

// Event ids in the event log; EventCreate, which every PC has, knows 1 to 1000.
const (
	eventInfo    = 1
	eventWarning = 2
	eventError   = 3
)

const (
	powerSuspend = 4 // PBT_APMSUSPEND
	// stopHint is how long the manager is told that a stop may take from each
	// sign of life on; signs come every second.
	stopHint = 10 * time.Second
)

// managedArgs end the service's command line.
var managedArgs = []string{"--" + ManagedFlag}

// Managed reports whether the service control manager started this process.
func Managed() bool {
	is, err := svc.IsWindowsService()
	return err == nil && is
}

// Run answers the service control manager while p runs. It answers at once,
// whatever p waits for. It returns an error if p ended without being asked to.
func Run(p Program) error {
	h := &handler{p: p}
	if l, err := eventlog.Open(Name); err == nil {
		h.log = l
		defer func() { _ = l.Close() }()
	}
	if err := svc.Run(Name, h); err != nil {
		return fmt.Errorf("answer the service manager: %w", err)
	}
	return h.err
}

type handler struct {
	p   Program
	log *eventlog.Log
	err error
}

// Journal writes to the event log.
func (h *handler) journal(level Level, text string) {
	if h.log == nil {
		return
	}
	switch level {
	case Error:
		_ = h.log.Error(eventError, text)
	case Warning:
		_ = h.log.Warning(eventWarning, text)
	default:
		_ = h.log.Info(eventInfo, text)
	}
}

// Execute implements svc.Handler.
func (h *handler) Execute(_ []string, asked <-chan svc.ChangeRequest, tell chan<- svc.Status) (specific bool, code uint32) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- h.p.Run(ctx, h.journal) }()
	running := svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown | svc.AcceptPreShutdown | svc.AcceptPowerEvent}
	tell <- running
	h.journal(Info, "floatrelay starts")
	for {
		select {
		case err := <-done:
			return h.ended(err)
		case c := <-asked:
			switch c.Cmd {
			case svc.Interrogate:
				tell <- running
			case svc.PowerEvent:
				if c.EventType == powerSuspend && h.p.Suspend != nil {
					h.p.Suspend()
				}
			case svc.Stop, svc.Shutdown, svc.PreShutdown:
				stop()
				h.await(done, tell, asked)
				h.journal(Info, "floatrelay ends")
				return false, 0 // a wanted stop is no failure, however late
			}
		}
	}
}

// ended reports an end nobody asked for, after which the manager recovers.
func (h *handler) ended(err error) (specific bool, code uint32) {
	if err == nil {
		err = fmt.Errorf("ended without being asked to")
	}
	h.err = err
	h.journal(Error, err.Error())
	return false, uint32(windows.ERROR_EXCEPTION_IN_SERVICE)
}

// await tells the manager that a stop goes on.
func (h *handler) await(done <-chan error, tell chan<- svc.Status, asked <-chan svc.ChangeRequest) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	status := svc.Status{State: svc.StopPending, WaitHint: uint32(stopHint.Milliseconds())}
	for {
		status.CheckPoint++
		tell <- status
		select {
		case err := <-done:
			if err != nil {
				h.journal(Warning, err.Error())
			}
			return
		case <-asked:
		case <-tick.C:
		}
	}
}
