package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/relayproc"
)

// How often the relay program and its ports are looked at. What is wrong is
// looked at more often: the site may be without a relay for it.
const (
	programEvery = 5 * time.Second
	programWrong = time.Second
)

// watchRelayProgram keeps this member from leading while its relay could not
// run, or must not: the program is missing, somebody else holds a port, or runs
// the relay program.
func (d *Daemon) watchRelayProgram(ctx context.Context) {
	for {
		program := checkRelayExe(d.cfg.RelayExe)
		d.notes.set("program", program...)
		pause := programEvery
		port, stranger := d.lookAtPorts(false), d.lookForStrangers()
		if len(program)+len(port)+len(stranger) > 0 {
			pause = programWrong
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// lookAtPorts notes, and returns, why the relay could not have its ports.
// Whether the system reserves them is tried by binding: at first, when nothing
// can be starting, and for as long as they are; if it begins later the guard
// finds out.
func (d *Daemon) lookAtPorts(first bool) []reason.Reason {
	why := d.portNote()
	if (first || d.reserved.Load()) && len(why) == 0 && !d.ownRelay() {
		err := relayproc.ReservedPort(d.address(), d.cfg.RelayPort)
		d.reserved.Store(err != nil)
		if err != nil {
			why = []reason.Reason{{Code: reason.PortReserved, Port: d.cfg.RelayPort, Detail: err.Error()}}
		}
	}
	d.notes.set("port", why...)
	return why
}

// portNote says who holds a port of the relay while we run none.
func (d *Daemon) portNote() []reason.Reason {
	if d.ownRelay() {
		return nil
	}
	for _, port := range []int{d.cfg.RelayPort, d.cfg.RelayPort + 1} {
		h, held := relayproc.PortHolder(d.address(), port)
		if held && !d.ownRelay() { // ours may have come while we looked
			return []reason.Reason{{Code: reason.PortHeld, Port: port, Detail: h.String()}}
		}
	}
	return nil
}

// ownRelay reports whether a relay of this daemon, or of an earlier run whose
// guard still ends it, may hold the ports.
func (d *Daemon) ownRelay() bool {
	s := d.driver.Status()
	return !d.clear.Load() || s.Relay != arbiter.RelayNone || s.Role == arbiter.Leader
}

// lookForStrangers notes, and returns, who runs the relay program although this
// daemon did not start it: an old watchdog's relay may be on other ports, or not
// be listening yet. Ours needs no look: while it runs nobody else gets its ports.
func (d *Daemon) lookForStrangers() []reason.Reason {
	var why []reason.Reason
	if !d.ownRelay() {
		found := relayproc.Strangers(d.cfg.RelayExe)
		if len(found) > 0 && !d.ownRelay() { // ours may have come while we looked
			why = strangerNote(found)
		}
	}
	d.notes.set("stranger", why...)
	return why
}

// strangerNote names the first of the relays that somebody else started, by pid.
func strangerNote(found []relayproc.Holder) []reason.Reason {
	slices.SortFunc(found, func(a, b relayproc.Holder) int { return a.PID - b.PID })
	return []reason.Reason{{Code: reason.RelayStranger, Detail: found[0].String(), Count: len(found) - 1}}
}
