//go:build !windows

package words

import "cmp"

// systemTag is the locale of messages, as POSIX chooses it.
func systemTag(getenv func(string) string) string {
	return cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG"))
}
