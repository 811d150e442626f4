package logging

import (
	"fmt"
	"io"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// closePatience is how long Close waits for sinks that are slow or stuck.
const closePatience = time.Second

// timeLayout is local time with its offset: logs of several PCs are compared.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// Options of a logger.
type Options struct {
	Level string // LOG_LEVEL: debug, info, warn or error; empty is info
	// Console takes lines for people, normally standard error of an
	// interactive run; nil for none.
	Console io.Writer
	// File is LOG_FILE, rotated and bounded to 25 MB in all (see fileSink); empty for none.
	File string
}

// Logger is a zap logger whose writes never block.
type Logger struct {
	*zap.Logger
	every *zap.Logger // the same without the limit on repeats
	sinks []*Async
	file  *fileSink
}

// New returns a logger. Only an unknown level is an error: a log file that
// cannot be written must not keep a site without its relay, so its lines go to
// the console instead, or to standard error if there is none.
func New(o Options) (*Logger, error) {
	level, err := parseLevel(o.Level)
	if err != nil {
		return nil, err
	}
	l := &Logger{}
	var cores []zapcore.Core
	console := o.Console
	if console == nil && o.File == "" {
		console = os.Stderr
	}
	var notices io.Writer = os.Stderr
	if console != nil {
		sink := l.sink(console)
		notices = sink
		cores = append(cores, zapcore.NewCore(encoder(), sink, level))
	}
	if o.File != "" {
		l.file = newFileSink(o.File, notices, console == nil)
		cores = append(cores, zapcore.NewCore(encoder(), l.sink(l.file), level))
	}
	core := zapcore.NewTee(cores...)
	l.every = zap.New(core)
	l.Logger = zap.New(limitRepeats(core))
	return l, nil
}

// Dropped returns how many lines were lost so far, the worst sink counted.
func (l *Logger) Dropped() uint64 {
	var n uint64
	for _, s := range l.sinks {
		n = max(n, s.Dropped())
	}
	return n
}

// Close writes what is queued, for at most a second, and reports whether
// everything was written. The logger takes no lines afterwards.
func (l *Logger) Close() bool {
	end := time.Now().Add(closePatience)
	flushed := true
	for _, s := range l.sinks {
		flushed = s.Close(time.Until(end)) && flushed
	}
	if l.file != nil && flushed {
		_ = l.file.Close()
	}
	return flushed
}

func (l *Logger) sink(w io.Writer) *Async {
	s := NewAsync(w)
	l.sinks = append(l.sinks, s)
	return s
}

func parseLevel(text string) (zapcore.Level, error) {
	switch text {
	case "":
		return zapcore.InfoLevel, nil
	case "debug", "info", "warn", "error":
		return zapcore.ParseLevel(text)
	}
	return 0, fmt.Errorf("LOG_LEVEL %q: allowed are debug, info, warn and error", text)
}

// encoder lays a line out: time, level, text, fields as JSON.
func encoder() zapcore.Encoder {
	return zapcore.NewConsoleEncoder(zapcore.EncoderConfig{
		TimeKey: "t", LevelKey: "l", MessageKey: "m", NameKey: "n",
		EncodeTime:       zapcore.TimeEncoderOfLayout(timeLayout),
		EncodeLevel:      padLevel,
		EncodeDuration:   zapcore.StringDurationEncoder,
		ConsoleSeparator: " ",
		LineEnding:       "\n",
	})
}

func padLevel(l zapcore.Level, enc zapcore.PrimitiveArrayEncoder) {
	enc.AppendString(fmt.Sprintf("%-5s", l))
}
