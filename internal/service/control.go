package service

import (
	"errors"
	"fmt"
	"time"

	ks "github.com/kardianos/service"
)

// ErrNotInstalled says that there is no such service.
var ErrNotInstalled = errors.New("the service is not installed")

// controlTimeout bounds Start and Stop: a service that hangs must not hang who
// asks.
const controlTimeout = 45 * time.Second

// nothing is a program for a service that is only controlled.
type nothing struct{}

func (nothing) Start(ks.Service) error { return nil }
func (nothing) Stop(ks.Service) error  { return nil }

// open returns the service, to be controlled.
func open(p Plan) (ks.Service, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	s, err := ks.New(nothing{}, config(p))
	if err != nil {
		return nil, fmt.Errorf("open the service manager: %w", err)
	}
	return s, nil
}

func config(p Plan) *ks.Config {
	return &ks.Config{
		Name: Name, DisplayName: displayName, Description: description,
		UserName: p.User, Executable: p.Exe, Arguments: p.args(), WorkingDirectory: "/",
		Option: options(p),
	}
}

// Install makes the service known, to be started with the system. It does not
// start it.
func Install(p Plan) error {
	if err := p.check(); err != nil {
		return err
	}
	if state, err := Status(); err == nil {
		return fmt.Errorf("install the service: it is installed already (%s): 'floatrelay service uninstall' first", state)
	}
	s, err := open(p)
	if err != nil {
		return err
	}
	if err := beforeInstall(p); err != nil {
		return err
	}
	if err := s.Install(); err != nil {
		return fmt.Errorf("install the service: %w%s", err, advice(err))
	}
	if err := afterInstall(p); err != nil {
		_ = s.Uninstall()
		return err
	}
	return nil
}

// Uninstall stops the service and makes it unknown again.
func Uninstall() error {
	state, err := Status()
	if err != nil {
		return err
	}
	if state != Stopped {
		if err := Stop(); err != nil {
			return err
		}
	}
	return control("uninstall", ks.Service.Uninstall)
}

// Start asks the manager to start the service and returns its answer.
func Start() error { return control("start", ks.Service.Start) }

// Stop asks for a graceful end, which hands the lease over, and waits for it.
func Stop() error { return control("stop", ks.Service.Stop) }

func control(what string, f func(ks.Service) error) error {
	s, err := open(Plan{})
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- f(s) }()
	select {
	case err = <-done:
	case <-time.After(controlTimeout):
		err = fmt.Errorf("no answer within %v", controlTimeout)
	}
	if err != nil {
		return fmt.Errorf("%s the service: %w%s", what, err, advice(err))
	}
	return nil
}

// State is what the manager says of the service.
type State string

// The states.
const (
	Running State = "running"
	Stopped State = "stopped"
	Failed  State = "failed"
)

// Status asks the manager. It fails with ErrNotInstalled if there is no such
// service.
func Status() (State, error) {
	s, err := open(Plan{})
	if err != nil {
		return "", err
	}
	st, err := s.Status()
	switch {
	case errors.Is(err, ks.ErrNotInstalled):
		return "", ErrNotInstalled
	case err != nil && installed():
		return Failed, nil
	case err != nil:
		return "", fmt.Errorf("ask the service manager: %w%s", err, advice(err))
	case st == ks.StatusRunning:
		return Running, nil
	}
	return Stopped, nil
}
