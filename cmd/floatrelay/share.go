package main

import (
	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/daemon"
	"github.com/convertfw/floatrelay/lease"
)

// openShare opens LEASE_DIR. Each call gives a handle of its own.
func openShare(cfg config.Config) (lease.Share, error) {
	return daemon.OpenShare(cfg.LeaseDir, string(cfg.SMBPassword))
}
