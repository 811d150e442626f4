package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// The bounds of the timings. TTL must leave a guard time to act and must not
// pass what every reader assumes of a record it cannot verify; FENCE must leave
// time to kill a process tree.
const (
	minTTL   = 3 * time.Second
	maxTTL   = lease.TTLMax
	minFence = 300 * time.Millisecond
)

// errRange says that the text has the right form and the wrong size; the
// allowed range stands behind it in the message.
var errRange = errors.New("is out of range")

// cutComment drops a ;comment or #comment behind a number or fixed word, which
// can contain neither.
func cutComment(text string) string {
	if i := strings.IndexAny(text, ";#"); i >= 0 {
		text = text[:i]
	}
	return strings.Trim(text, " \t")
}

func number(name, def string, low, high int, doc string, field func(*Config) *int) *Key {
	return &Key{
		Name: name, Default: def, Plain: true, Doc: doc,
		Allowed: fmt.Sprintf("a whole number, %d to %d", low, high),
		set: func(c *Config, text string) (string, error) {
			n, err := strconv.Atoi(text)
			if errors.Is(err, strconv.ErrSyntax) {
				return "", errors.New("is not a whole number")
			}
			if err != nil || n < low || n > high {
				return "", errRange
			}
			*field(c) = n
			return strconv.Itoa(n), nil
		},
	}
}

// plainSeconds is a bare number: seconds. Exponents, signs, "inf" and hex,
// which strconv would take, are not.
var plainSeconds = regexp.MustCompile(`^([0-9]{1,9}(\.[0-9]{1,9})?|\.[0-9]{1,9})$`)

// ParseDuration reads seconds ("15", "1.5") or a Go duration ("250ms"), the
// latter in any case and with blanks between number and unit. A record counts
// in milliseconds, so nothing finer is accepted: holder and taker must go by
// the same figure.
func ParseDuration(text string) (time.Duration, error) {
	if plainSeconds.MatchString(text) {
		text += "s"
	}
	text = strings.ToLower(strings.Join(strings.Fields(text), ""))
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("is neither seconds nor a duration")
	}
	if d%time.Millisecond != 0 {
		return 0, errors.New("is finer than a millisecond")
	}
	return d, nil
}

func duration(name, def string, low, high time.Duration, also, doc string, field func(*Config) *time.Duration) *Key {
	return &Key{
		Name: name, Default: def, Plain: true, Doc: doc,
		Allowed: fmt.Sprintf("seconds (1.5) or a duration (250ms), %s to %s%s", shortDuration(low), shortDuration(high), also),
		set: func(c *Config, text string) (string, error) {
			d, err := ParseDuration(text)
			if err != nil {
				return "", err
			}
			if d < low || d > high {
				return "", errRange
			}
			*field(c) = d
			return shortDuration(d), nil
		},
	}
}

// shortDuration prints 10m instead of 10m0s, and at most milliseconds.
func shortDuration(d time.Duration) string {
	s := d.Round(time.Microsecond).String()
	if d%time.Second != 0 && d > time.Millisecond {
		s = d.Truncate(time.Millisecond).String()
	}
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	return s
}

func words(name, def string, allowed []string, doc string, field func(*Config) *string) *Key {
	return &Key{
		Name: name, Default: def, Plain: true, Doc: doc,
		Allowed: strings.Join(allowed[:len(allowed)-1], ", ") + " or " + allowed[len(allowed)-1],
		set: func(c *Config, text string) (string, error) {
			i := slices.IndexFunc(allowed, func(word string) bool { return strings.EqualFold(word, text) })
			if i < 0 {
				return "", errors.New("is not allowed")
			}
			*field(c) = allowed[i]
			return allowed[i], nil
		},
	}
}

func boolean(name, def, doc string, field func(*Config) *bool) *Key {
	return &Key{
		Name: name, Default: def, Plain: true, Doc: doc,
		Allowed: "0 or 1 (also no, yes, off, on, false, true)",
		set: func(c *Config, text string) (string, error) {
			switch strings.ToLower(text) {
			case "0", "no", "off", "false":
				*field(c) = false
				return "0", nil
			case "1", "yes", "on", "true":
				*field(c) = true
				return "1", nil
			}
			return "", errors.New("is not allowed")
		},
	}
}
