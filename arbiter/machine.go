package arbiter

import "time"

// Machine is the decision of one member.
type Machine struct {
	cfg Config
	now time.Duration
}

// New returns the machine of a daemon that has just started.
func New(cfg Config) (*Machine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Machine{cfg: cfg}, nil
}

// Step tells the machine that ev happened at now (boot time) and returns what
// to do about it, in order. now never goes back.
func (m *Machine) Step(now time.Duration, ev Event) []Action {
	m.now = now
	return nil
}

// Wake returns the boot time at which the machine wants a Tick if nothing else
// happens before.
func (m *Machine) Wake() time.Duration { return m.now }

// Status returns a snapshot.
func (m *Machine) Status() Status { return Status{} }
