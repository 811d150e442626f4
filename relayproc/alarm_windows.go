package relayproc

import (
	"errors"
	"time"
)

// alarm is not to be had on Windows: no timer of the system acts in the name of a
// process that is stopped.
type alarm struct{}

func newAlarm() (*alarm, error) { return nil, errors.ErrUnsupported }

func (*alarm) set(time.Duration) error { return nil }
