//go:build !linux

package standin

import "os"

func hostPID() int { return os.Getpid() }
