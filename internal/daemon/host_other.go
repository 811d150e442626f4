//go:build !linux && !windows

package daemon

import (
	"os"
	"time"

	"github.com/convertfw/floatrelay/internal/clock"
)

func hostParts() []string {
	name, _ := os.Hostname()
	return []string{name, time.Now().Add(-clock.Boot()).Round(time.Minute).String()}
}
