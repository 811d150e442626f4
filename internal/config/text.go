package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convertfw/floatrelay/lease"
)

// The longest KMSN and STATION, in bytes as a record writes them: ASCII, with
// six bytes (\uXXXX) for a Chinese character.
const (
	maxKMSN    = lease.MaxKMSN
	maxStation = lease.MaxStation
	maxSecret  = 1024
)

const secretRange = "1 to 1024 bytes of text, taken literally; 16 characters or more are advised"

func nameRange(limit int) string {
	return fmt.Sprintf("1 to %d bytes of printable text, a Chinese character counts 6 (at most %d of them)", limit, limit/6)
}

// checkText refuses what no text value may hold.
func checkText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("is not valid text")
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return fmt.Errorf("contains the control character 0x%02X", r)
		}
	}
	return nil
}

func name(limit int, field func(*Config) *string) func(*Config, string) (string, error) {
	return func(c *Config, text string) (string, error) {
		if err := checkText(text); err != nil {
			return "", err
		}
		if strings.ContainsRune(text, utf8.RuneError) {
			return "", errUnreadable
		}
		if n := lease.EscapedLen(text); n > limit {
			return "", fmt.Errorf("is too long: %d bytes as written in a record", n)
		}
		*field(c) = text
		return text, nil
	}
}

// errUnreadable refuses values that enter the keys of the site: a guess would
// only move the trouble to where nobody can see its cause.
var errUnreadable = errors.New("contains bytes that are no characters")

// station lets a code with an unreadable character pass, as "?", which a
// record can hold; the bad bytes were warned of when the file was decoded.
func station(c *Config, text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", errors.New("is not valid text")
	}
	text = strings.ReplaceAll(text, string(utf8.RuneError), "?")
	return name(maxStation, func(c *Config) *string { return &c.Station })(c, text)
}

func secret(field func(*Config) *Secret) func(*Config, string) (string, error) {
	return func(c *Config, text string) (string, error) {
		if err := checkText(text); err != nil {
			// The character itself would be a part of the secret.
			return "", errors.New("contains characters that are not text")
		}
		if strings.ContainsRune(text, utf8.RuneError) {
			return "", errUnreadable
		}
		if len(text) > maxSecret {
			return "", fmt.Errorf("is too long: %d bytes", len(text))
		}
		*field(c) = Secret(text)
		return Fingerprint(c.KMSN, text), nil // KMSN comes first in the table
	}
}

const argsRange = `arguments separated by blanks; "double quotes" keep blanks together, "" inside them is one quote`

func relayArgs(c *Config, text string) (string, error) {
	if err := checkText(strings.ReplaceAll(text, "\t", " ")); err != nil {
		return "", err
	}
	args, err := SplitArgs(text)
	if err != nil {
		return "", err
	}
	c.RelayArgs = args
	return text, nil
}

// SplitArgs splits RELAY_ARGS at blanks. Double quotes keep blanks together
// and disappear, a doubled quote inside them is one quote, and a backslash is
// an ordinary character, so that Windows paths need no care.
func SplitArgs(text string) ([]string, error) {
	var args []string
	var arg strings.Builder
	quoted, some := false, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && quoted && i+1 < len(text) && text[i+1] == '"':
			arg.WriteByte('"')
			i++
		case c == '"':
			quoted, some = !quoted, true
		case (c == ' ' || c == '\t') && !quoted:
			if some {
				args = append(args, arg.String())
			}
			arg.Reset()
			some = false
		default:
			arg.WriteByte(c)
			some = true
		}
	}
	if quoted {
		return nil, errors.New("has a double quote without its partner")
	}
	if some {
		args = append(args, arg.String())
	}
	return args, nil
}
