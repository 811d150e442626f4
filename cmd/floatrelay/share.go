package main

import (
	"fmt"
	"strings"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/lease"
)

// openShare opens LEASE_DIR. Each call gives a handle of its own.
func openShare(cfg config.Config) (lease.Share, error) {
	if strings.HasPrefix(cfg.LeaseDir, "smb://") {
		return nil, fmt.Errorf("open LEASE_DIR: this build does not speak smb:// itself; use a folder or UNC path")
	}
	return lease.NewDir(cfg.LeaseDir), nil
}
