package service

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	ks "github.com/kardianos/service"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc/mgr"
)

// recovery is what the manager does after a crash: the third and every later
// one wait longer, so that a broken PC is not kept busy. Counting begins anew
// after a quiet hour.
var recovery = []mgr.RecoveryAction{
	{Type: mgr.ServiceRestart, Delay: 2 * time.Second},
	{Type: mgr.ServiceRestart, Delay: 10 * time.Second},
	{Type: mgr.ServiceRestart, Delay: time.Minute},
}

const recoveryReset = uint32(3600)

func supported() error { return nil }

func options(p Plan) ks.KeyValue {
	password := p.Password
	if kindOf(p.User) != ordinary {
		password = "" // the manager wants none for the system's own accounts
	}
	return ks.KeyValue{"StartType": "automatic", "Password": password}
}

// beforeInstall gives the account what services.msc would give it. The system's
// own accounts have it.
func beforeInstall(p Plan) error {
	if kindOf(p.User) != ordinary {
		return nil
	}
	if err := allowServiceLogon(p.User); err != nil {
		return fmt.Errorf("let %s log on as a service: %w%s", p.User, err, advice(err))
	}
	return nil
}

// afterInstall sets the recovery, also for an end that reports an error: a
// wanted stop never does.
func afterInstall(Plan) error {
	m, err := mgr.Connect()
	if err != nil {
		return fmt.Errorf("set the recovery of the service: open the manager: %w", err)
	}
	defer func() { _ = m.Disconnect() }()
	s, err := m.OpenService(Name)
	if err != nil {
		return fmt.Errorf("set the recovery of the service: open it: %w", err)
	}
	defer s.Close()
	if err := s.SetRecoveryActions(recovery, recoveryReset); err != nil {
		return fmt.Errorf("set the recovery of the service: set the actions: %w", err)
	}
	// Every Windows since Vista knows this; without it only crashes recover.
	_ = s.SetRecoveryActionsOnNonCrashFailures(true)
	return nil
}

// installed is asked only where the state could not be told.
func installed() bool { return false }

func advice(err error) string {
	switch {
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return ": run it from a console opened as administrator"
	case errors.Is(err, windows.ERROR_SERVICE_LOGON_FAILED):
		return ": check the account and its password"
	case errors.Is(err, windows.ERROR_SERVICE_MARKED_FOR_DELETE):
		return ": close the Services window, or restart the PC"
	case errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST):
		return ": 'floatrelay service install' first"
	}
	return ""
}

// Describe is what Install would do.
func Describe(p Plan) Description {
	d := describe(p, "LocalSystem")
	words := make([]string, len(d.Command))
	for i, w := range d.Command {
		words[i] = syscall.EscapeArg(w)
	}
	d.text = fmt.Sprintf("service   %s\r\nstart     automatic\r\naccount   %s\r\ncommand   %s\r\nrecovery  restart after 2 s, 10 s, then 60 s\r\n",
		d.Name, d.Account, strings.Join(words, " "))
	return d
}

// CheckHost refuses a plan whose account does not reach what it needs.
func CheckHost(p Plan) error {
	return CheckPlan(p, Host{Workgroup: workgroup(), Remote: remote})
}
