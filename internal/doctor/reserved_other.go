//go:build !windows && !linux

package doctor

import "context"

// systemRanges tells nothing.
func systemRanges(context.Context) portRanges { return portRanges{} }

func reserveHint(int) string { return "see the system's manual" }
