package service

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	ks "github.com/kardianos/service"
)

const unitPath = "/etc/systemd/system/" + Name + ".service"

// supported refuses other managers than systemd: their scripts know neither the
// guard nor a stop that takes its time.
func supported() error {
	if ks.Platform() != "linux-systemd" {
		return errors.New("this system is not run by systemd: let whatever starts programs here run 'floatrelay run --config FILE', and stop it with SIGTERM")
	}
	return nil
}

func options(p Plan) ks.KeyValue { return ks.KeyValue{"SystemdScript": Unit(p)} }

func beforeInstall(p Plan) error {
	if strings.Contains(p.Exe+p.Config, "{{") {
		return errors.New("install the service: a path with {{ cannot be used")
	}
	return nil
}

func afterInstall(Plan) error { return nil }

// installed reports whether the unit is there.
func installed() bool {
	_, err := os.Stat(unitPath)
	return err == nil
}

func advice(err error) string {
	var exit *exec.ExitError
	switch {
	case errors.Is(err, fs.ErrPermission):
		return ": run it as root"
	case errors.As(err, &exit):
		return "; 'journalctl -u " + Name + "' may say more"
	}
	return ""
}

// Describe is what Install would do.
func Describe(p Plan) Description {
	d := describe(p, "root")
	d.UnitPath, d.Unit = unitPath, Unit(p)
	d.text = "# " + d.UnitPath + "\n" + d.Unit
	return d
}

// CheckHost has nothing to refuse here: a mount is the same for every account.
func CheckHost(Plan) error { return nil }
