package daemon

import "github.com/convertfw/floatrelay/arbiter"

// Yield hands the lease over, if this member holds it and somebody else may
// have it, because the PC is about to be of no use for a while. The daemon goes
// on and may lead again.
func (d *Daemon) Yield(reason string) { d.driver.Post(arbiter.Handoff{Reason: reason}) }
