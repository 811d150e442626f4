package daemon

import (
	"fmt"
	"strings"

	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/lease/smb"
)

// OpenShare returns the share that LEASE_DIR names. Nothing is asked of it yet.
// Each call gives a share of its own, with connections of its own.
func OpenShare(dir, password string) (lease.Share, error) {
	if len(dir) < len(smb.Scheme) || !strings.EqualFold(dir[:len(smb.Scheme)], smb.Scheme) {
		return lease.NewDir(dir), nil
	}
	s, err := smb.Open(dir, password, smb.Options{})
	if err != nil {
		return nil, fmt.Errorf("open LEASE_DIR: %w", err)
	}
	return s, nil
}
