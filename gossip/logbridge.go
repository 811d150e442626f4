package gossip

import (
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
)

// logRate is how many of memberlist's lines per second reach the log.
const logRate = 20

// logBridge turns memberlist's log lines into ours, at debug level and bounded,
// and takes from them the two things memberlist says nowhere else: that a
// member did not answer our probe, and that somebody sends what we cannot
// decrypt. The texts are those of v0.7.0; tests notice if they change.
type logBridge struct {
	log     *zap.Logger
	suspect func(name string)
	strange *strangers
	limit   *limiter
}

// Write implements io.Writer for the standard logger: one line per call.
func (b *logBridge) Write(p []byte) (int, error) {
	line := strings.TrimSpace(string(p))
	level, text := cutLevel(line)
	if name, ok := between(text, "Suspect ", " has failed, no acks"); ok {
		b.suspect(name)
	}
	if from, ok := sourceOf(text); ok {
		switch {
		case strings.Contains(text, "unacceptable label"):
			b.strange.note(from, OtherSite)
		case isUndecryptable(text):
			b.strange.note(from, WrongToken)
		}
	}
	if ok, skipped := b.limit.allow(); ok {
		b.log.Debug(text, zap.String("memberlist", level), zap.Int("skipped", skipped))
	}
	return len(p), nil
}

// cutLevel splits "[WARN] memberlist: text".
func cutLevel(line string) (level, text string) {
	if rest, ok := strings.CutPrefix(line, "["); ok {
		if l, t, ok := strings.Cut(rest, "] "); ok {
			return strings.ToLower(l), strings.TrimPrefix(t, "memberlist: ")
		}
	}
	return "", line
}

func between(s, before, after string) (string, bool) {
	rest, ok := strings.CutPrefix(s, before)
	if !ok {
		return "", false
	}
	v, _, ok := strings.Cut(rest, after)
	return v, ok
}

// sourceOf finds "from=ip:port" and returns the ip.
func sourceOf(text string) (string, bool) {
	_, rest, ok := strings.Cut(text, "from=")
	if !ok {
		return "", false
	}
	rest, _, _ = strings.Cut(rest, " ")
	i := strings.LastIndexByte(rest, ':')
	if i <= 0 {
		return "", false
	}
	return strings.Trim(rest[:i], "[]"), true
}

// isUndecryptable recognises memberlist's complaint about a foreign key.
func isUndecryptable(text string) bool {
	return strings.Contains(text, "no installed keys could decrypt")
}

// isWrongToken is the same for an error of Join, ours or the other side's.
func isWrongToken(err error) bool { return err != nil && isUndecryptable(err.Error()) }

// limiter lets a number of lines through per second and counts the others.
type limiter struct {
	mu      sync.Mutex
	rate    int
	second  int64
	used    int
	skipped int
}

func newLimiter(rate int) *limiter { return &limiter{rate: rate} }

func (l *limiter) allow() (ok bool, skipped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := time.Now().Unix(); s != l.second {
		l.second, l.used = s, 0
	}
	if l.used >= l.rate {
		l.skipped++
		return false, 0
	}
	l.used++
	skipped, l.skipped = l.skipped, 0
	return true, skipped
}
