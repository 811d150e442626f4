package logging

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

// Bounds of what a relay may put into the log: a burst for a traceback, then a
// trickle.
const (
	outputBurst  = 200
	outputPerSec = 20
)

// Output logs the lines a relay prints, at most outputPerSec per second after a
// burst of outputBurst. It is safe for concurrent use.
type Output struct {
	log *zap.Logger
	now func() time.Time

	mu      sync.Mutex
	tokens  float64
	last    time.Time
	leftOut int
}

// NewOutput returns an Output that logs to log. Lines are not subject to the
// limit on repeats: a relay may say the same thing twice.
func (l *Logger) NewOutput(fields ...zap.Field) *Output {
	return &Output{log: l.every.With(fields...), now: time.Now, tokens: outputBurst}
}

// Line logs one line, in any encoding and of any length.
func (o *Output) Line(text string) {
	leftOut, ok := o.take()
	if !ok {
		return
	}
	if leftOut > 0 {
		o.log.Warn("relay output left out", zap.Int("lines", leftOut))
	}
	o.log.Info(text)
}

func (o *Output) take() (leftOut int, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	if !o.last.IsZero() {
		o.tokens = min(outputBurst, o.tokens+max(0, now.Sub(o.last).Seconds())*outputPerSec)
	}
	o.last = now
	if o.tokens < 1 {
		o.leftOut++
		return 0, false
	}
	o.tokens--
	leftOut, o.leftOut = o.leftOut, 0
	return leftOut, true
}
