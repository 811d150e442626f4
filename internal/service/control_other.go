//go:build !linux && !windows

package service

import (
	"errors"

	ks "github.com/kardianos/service"
)

func supported() error {
	return errors.New("services are made on Windows and with systemd only: let whatever starts programs here run 'floatrelay run --config FILE', and stop it with SIGTERM")
}

func options(Plan) ks.KeyValue { return nil }
func beforeInstall(Plan) error { return nil }
func afterInstall(Plan) error  { return nil }
func installed() bool          { return false }
func advice(error) string      { return "" }

// Describe is what Install would do if it could.
func Describe(p Plan) Description { return describe(p, "root") }

// CheckHost has nothing to refuse here.
func CheckHost(Plan) error { return nil }
