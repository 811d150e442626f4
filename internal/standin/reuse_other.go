//go:build !unix

package standin

import "syscall"

// withoutReuse has nothing to take back where Go sets no SO_REUSEADDR.
func withoutReuse(_, _ string, _ syscall.RawConn) error { return nil }
