package doctor

import (
	"context"
	"time"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
)

// Input is what the checks look at.
type Input struct {
	// Path, Loaded and LoadErr are what reading stk.ini gave. Without a usable
	// configuration only the file itself can be checked.
	Path    string
	Loaded  *config.Loaded
	LoadErr error
	// OpenShare opens LEASE_DIR anew: a connection or handle of its own each
	// time, so that creates can be raced.
	OpenShare func() (lease.Share, error)
	// Account says why a service would not reach LEASE_DIR though this session
	// may, as service.CheckAccount does; nil where every account sees the same.
	Account func(dir string) error
	// Status asks the daemon of this PC; an error means there is none.
	Status func(ctx context.Context) (localapi.Status, error)
	// Survey has that daemon ask all members.
	Survey func(ctx context.Context) (localapi.Survey, error)
}

// Checks lists what there is to look at.
func Checks(in Input) []Check {
	all := []Check{{Name: "ini", Run: in.checkINI, Hung: "stk.ini is on a disk or share that hangs: keep it on this PC"}}
	if in.LoadErr != nil || in.Loaded == nil {
		return all
	}
	cfg := in.Loaded.Config
	once, survey := askOnce(in.Status), surveyOnce(in.Survey)
	return append(all,
		Check{"daemon", daemonCheck(cfg, once, in.OpenShare), "the daemon does not answer: restart it"},
		Check{"share", shareCheck(cfg, in.OpenShare, in.Account), hungShare},
		Check{"exclusive", exclusiveCheck(in.OpenShare), hungShare},
		Check{"chain", chainCheck(cfg, in.OpenShare), hungShare},
		Check{"ports", portsCheck(cfg, once), "the system does not answer: restart this PC"},
		Check{"ranges", rangesCheck(portUses(cfg), systemRanges), "the system does not answer: restart this PC"},
		Check{"address", addressCheck(cfg, in.OpenShare), "a name cannot be looked up: check the DNS settings, or name peers by address"},
		Check{"members", membersCheck(cfg, survey, outsideCheck(cfg, in.OpenShare)), "the members were not all asked in time: repeat the check"},
		Check{"race", raceCheck(survey), hungShare},
		Check{"clocks", clocksCheck(survey, time.Now), "the daemon does not answer: restart it"},
		Check{"relay", relayCheck(cfg), "RELAY_EXE is on a share that hangs: keep the program on this PC"},
		Check{"state", stateCheck(cfg, once), "STATE_DIR is on a share that hangs: keep it on this PC"},
	)
}

const hungShare = "the share does not answer: check the cable, the file server and the VPN; " +
	"open LEASE_DIR in the file manager of this PC"
