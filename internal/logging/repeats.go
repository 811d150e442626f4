package logging

import (
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// How often one and the same text may be logged: repeatBurst times within
// repeatWindow. The next entry after the window says how many were left out.
const (
	repeatBurst  = 3
	repeatWindow = time.Minute
	repeatTexts  = 512 // texts remembered at most
)

// repeats is shared by a core and everything derived from it with With.
type repeats struct {
	mu    sync.Mutex
	texts map[repeatKey]*repeatCount
}

type repeatKey struct {
	level zapcore.Level
	text  string
}

type repeatCount struct {
	since   time.Time
	written int
	left    int // left out since the last written one
}

// admit says whether an entry may be written, and how many equal ones were
// left out before it.
func (r *repeats) admit(e zapcore.Entry) (ok bool, leftOut int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := repeatKey{e.Level, e.Message}
	c := r.texts[key]
	if c == nil {
		r.forget(e.Time)
		c = &repeatCount{since: e.Time}
		r.texts[key] = c
	}
	if age := e.Time.Sub(c.since); age >= repeatWindow || age < 0 {
		c.since, c.written = e.Time, 0
	}
	if c.written >= repeatBurst {
		c.left++
		return false, 0
	}
	c.written++
	leftOut, c.left = c.left, 0
	return true, leftOut
}

// forget makes room for one more text: those whose window is over go first,
// and if that does not help, all.
func (r *repeats) forget(now time.Time) {
	if len(r.texts) < repeatTexts {
		return
	}
	for k, c := range r.texts {
		if now.Sub(c.since) >= repeatWindow {
			delete(r.texts, k)
		}
	}
	if len(r.texts) >= repeatTexts {
		clear(r.texts)
	}
}

// repeatCore leaves out what is said again and again. Fields do not count: a
// text that differs only in its fields is the same text.
type repeatCore struct {
	zapcore.Core
	seen *repeats
}

func limitRepeats(core zapcore.Core) zapcore.Core {
	return &repeatCore{core, &repeats{texts: make(map[repeatKey]*repeatCount)}}
}

func (c *repeatCore) With(fields []zapcore.Field) zapcore.Core {
	return &repeatCore{c.Core.With(fields), c.seen}
}

func (c *repeatCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

func (c *repeatCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	ok, leftOut := c.seen.admit(e)
	if !ok {
		return nil
	}
	if leftOut > 0 {
		fields = append(fields[:len(fields):len(fields)], zap.Int("left_out", leftOut))
	}
	return c.Core.Write(e, fields)
}
