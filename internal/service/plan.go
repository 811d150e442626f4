package service

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Name is the service's name on every system.
const Name = "floatrelay"

// Texts the service manager shows.
const (
	displayName = "floatrelay"
	description = "Keeps exactly one relay running in this site"
)

// Plan is a service to be installed.
type Plan struct {
	Exe      string // absolute path of this program
	Config   string // absolute path of stk.ini, fixed from now on
	User     string // account to run as; empty is LocalSystem, or root
	Password string // of that account; Windows only

	// Of that stk.ini; empty is not set.
	LeaseDir, RelayExe, StateDir, LogFile string
}

// paths are what the service must reach, by the names people know.
func (p Plan) paths() []namedPath {
	return []namedPath{
		{leaseDir, p.LeaseDir}, {"this program", p.Exe}, {"stk.ini", p.Config},
		{"RELAY_EXE", p.RelayExe}, {"STATE_DIR", p.StateDir}, {"LOG_FILE", p.LogFile},
	}
}

const leaseDir = "LEASE_DIR"

type namedPath struct{ what, path string }

// args are the arguments the service manager starts Exe with. Everything a
// service needs stands in them: its working directory and environment are the
// manager's.
func (p Plan) args() []string { return append([]string{"run", "--config", p.Config}, managedArgs...) }

// ManagedFlag makes `run` answer the Windows service manager without asking
// whether there is one: not every Windows lets a process find out.
const ManagedFlag = "managed"

// Check refuses a plan that could not work on this PC, with an AccountError if
// the account does not reach what it needs.
func Check(p Plan) error {
	if err := p.check(); err != nil {
		return err
	}
	return CheckHost(p)
}

// check refuses what would be started from somewhere else than meant.
func (p Plan) check() error {
	for _, f := range []struct{ what, path string }{{"this program", p.Exe}, {"stk.ini", p.Config}} {
		if !filepath.IsAbs(f.path) {
			return fmt.Errorf("install the service: the path of %s is not absolute: %s", f.what, f.path)
		}
		if strings.ContainsAny(f.path, "\"\n\r\x00") {
			return fmt.Errorf("install the service: the path of %s has a quote or a line break: %q", f.what, f.path)
		}
	}
	if p.User == "" && p.Password != "" {
		return errors.New("install the service: a password without a user")
	}
	return nil
}
