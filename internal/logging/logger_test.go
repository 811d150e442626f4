package logging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

func logger(t *testing.T, level string, s *sink) *Logger {
	t.Helper()
	l, err := New(Options{Level: level, Console: s})
	require.NoError(t, err)
	return l
}

func TestNew_LevelsAreFour(t *testing.T) {
	for _, level := range []string{"", "debug", "info", "warn", "error"} {
		s := &sink{}
		l := logger(t, level, s)
		l.Debug("debug")
		l.Info("info")
		l.Warn("warn")
		l.Error("error")
		require.True(t, l.Close())
		want := map[string]int{"debug": 4, "info": 3, "": 3, "warn": 2, "error": 1}[level]
		require.Len(t, s.lines(), want, level)
	}
	for _, level := range []string{"INFO", "verbose", "fatal", "panic"} {
		_, err := New(Options{Level: level})
		require.ErrorContains(t, err, "LOG_LEVEL \""+level+"\": allowed are debug, info, warn and error")
	}
}

func TestLogger_OneLinePerEntryWhateverIsInIt(t *testing.T) {
	s := &sink{}
	l := logger(t, "info", s)
	l.Info("leader of epoch 42\nforged line", zap.String("station", "站\n一"), zap.Duration("left", 1500*time.Millisecond))
	require.True(t, l.Close())
	got := s.lines()
	require.Len(t, got, 1)
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d) info  leader of epoch 42\\nforged line `+
		`\{"station": "站\\n一", "left": "1.5s"\}$`, got[0])
}

func TestLogger_RepeatsAreLimitedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		l := logger(t, "info", s)
		derived := l.With(zap.Int("epoch", 42))
		for range 100 {
			l.Warn("share unavailable")
			derived.Warn("share unavailable")
		}
		l.Error("share unavailable")
		l.Warn("another text")
		time.Sleep(repeatWindow)
		l.Warn("share unavailable")
		l.Warn("share unavailable")
		require.True(t, l.Close())
		text := strings.Join(s.lines(), "\n")
		require.Equal(t, repeatBurst+3, strings.Count(text, "share unavailable"), text)
		require.Equal(t, 1, strings.Count(text, "left_out"), "told once")
		require.Contains(t, text, `share unavailable {"left_out": 197}`)
		require.Contains(t, text, "another text")
	})
}

func TestRepeats_MemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		l := logger(t, "info", s)
		core := l.Core().(*repeatCore)
		for i := range 3 * repeatTexts {
			l.Info(strings.Repeat("x", i))
			require.LessOrEqual(t, len(core.seen.texts), repeatTexts)
		}
		l.Close()
	})
}

func TestOutput_BurstThenTrickle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		l := logger(t, "info", s)
		out := l.NewOutput(zap.String("from", "relay"))
		for range 1000 {
			out.Line("same line")
		}
		time.Sleep(time.Second)
		for range 1000 {
			out.Line("later")
		}
		require.True(t, l.Close())
		text := strings.Join(s.lines(), "\n")
		require.Equal(t, outputBurst, strings.Count(text, "same line"))
		require.Equal(t, outputPerSec, strings.Count(text, "later"))
		require.Contains(t, text, `relay output left out {"from": "relay", "lines": 800}`)
	})
}

func TestFile_IsMadeAndRotatedWithinBounds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not yet there")
	path := filepath.Join(dir, "floatrelay.log")
	f := newFileSink(path, os.Stderr, false)
	f.rotated.MaxSize = 1 // megabyte
	line := []byte(strings.Repeat("x", 100_000) + "\n")
	for range 25 {
		_, err := f.Write(line)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.LessOrEqual(t, st.Size(), int64(1<<20))
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Greater(t, len(names), 1)
}

func TestFile_LogsBesideTheConsole(t *testing.T) {
	s := &sink{}
	path := filepath.Join(t.TempDir(), "floatrelay.log")
	l, err := New(Options{Console: s, File: path})
	require.NoError(t, err)
	l.Info("leader of epoch 42")
	require.True(t, l.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Join(s.lines(), "\n")+"\n", string(text))
}

// A log that cannot be written is a nuisance; a site without a relay is an
// outage.
func TestFile_ThatCannotBeWrittenIsToldAndDiverted(t *testing.T) {
	folder := t.TempDir() // a folder is not a file
	t.Run("with a console", func(t *testing.T) {
		s := &sink{}
		l, err := New(Options{Console: s, File: folder})
		require.NoError(t, err)
		l.Info("one")
		l.Info("two")
		l.Close()
		text := strings.Join(s.lines(), "\n")
		require.Equal(t, 1, strings.Count(text, "info  one"))
		require.Equal(t, 1, strings.Count(text, "info  two"))
	})
	t.Run("told once, diverted always", func(t *testing.T) {
		s := &sink{}
		f := newFileSink(folder, s, true)
		for range 3 {
			_, err := f.Write([]byte("line\n"))
			require.NoError(t, err)
		}
		got := s.lines()
		require.Len(t, got, 4)
		require.Contains(t, got[0], "check LOG_FILE")
		require.DirExists(t, folder, "and not moved away by the rotation")
		f.rotated.Filename = filepath.Join(folder, "log")
		_, err := f.Write([]byte("line\n"))
		require.NoError(t, err)
		require.Contains(t, s.lines()[4], "is written again")
		require.NoError(t, f.Close())
	})
}
