//go:build !windows

package words

import (
	"cmp"
	"os"
)

// systemTag is the locale of messages, as POSIX chooses it.
func systemTag() string {
	return cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))
}
