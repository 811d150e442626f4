package config

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minSecret is the length in characters below which a token can be guessed
	// offline from a captured record, whatever it is made of.
	minSecret = 16
	// minSurprises is how many of its characters must not follow from those
	// before: less is a pattern, however long. Of sixteen random characters nearly
	// all do not.
	minSurprises = 11
	// minDigits is the length of a token of digits alone.
	minDigits = 24
)

// samples are the tokens that our own documents show, in lower case.
var samples = []string{"a long secret of this site"}

// commonWords are tried first by whoever guesses. They count as one character.
var commonWords = []string{
	"floatrelay", "administrator", "password", "passwort", "changeme", "geheim", "secret", "welcome",
	"letmein", "admin", "relay", "token", "socket", "station", "test",
}

// keyRows are neighbours on the keyboard.
var keyRows = []string{"1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"}

// weakness says why a token can be guessed, or "".
func weakness(token string) string {
	low := strings.ToLower(strings.TrimSpace(token))
	for _, s := range samples {
		if low == s {
			return "is the example of the documentation, which everybody knows"
		}
	}
	onlyDigits := strings.IndexFunc(low, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
	switch n := utf8.RuneCountInString(low); {
	case n < minSecret:
		return "is short and can be guessed; 16 characters or more are advised"
	case onlyDigits && n < minDigits:
		return "consists of digits alone and can be guessed"
	case surprises(low) < minSurprises:
		return "follows a pattern and can be guessed"
	}
	return ""
}

// surprises counts the characters of a lower-case text that do not follow from
// those before it: by repetition, by counting, or on the keyboard.
func surprises(text string) int {
	for i, w := range commonWords {
		text = strings.ReplaceAll(text, w, string(rune(0xE000+i))) // one private character each
	}
	r := []rune(text)
	n := 0
	for i := range r {
		if !continues(r[:i+1]) && !repeats(r, i) {
			n++
		}
	}
	return n
}

// continues reports whether the last character goes on as the two before it:
// aaa, abc, 987, qwe.
func continues(r []rune) bool {
	n := len(r)
	if n < 3 {
		return false
	}
	a, b, c := r[n-3], r[n-2], r[n-1]
	if d := c - b; d == b-a && d >= -1 && d <= 1 {
		return true
	}
	for _, row := range keyRows {
		i, j, k := strings.IndexRune(row, a), strings.IndexRune(row, b), strings.IndexRune(row, c)
		if d := k - j; i >= 0 && j >= 0 && k >= 0 && d == j-i && (d == 1 || d == -1) {
			return true
		}
	}
	return false
}

// repeats reports whether the two characters that end at i stood there before.
func repeats(r []rune, i int) bool {
	for k := 1; k < i; k++ {
		if r[k] == r[i] && r[k-1] == r[i-1] {
			return true
		}
	}
	return false
}
