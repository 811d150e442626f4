package daemon

import (
	"strconv"
	"time"

	"golang.org/x/sys/windows/registry"

	"github.com/convertfw/floatrelay/internal/clock"
)

// hostParts names this machine and this boot of it. Windows has no boot id;
// the moment of the boot, rounded to minutes, stands for it. A clock that was
// set since makes it differ, which only costs the fast path after a restart.
func hostParts() []string {
	booted := time.Now().Add(-clock.Boot()).Round(time.Minute)
	return []string{machineGUID(), strconv.FormatInt(booted.Unix(), 10)}
}

func machineGUID() string {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer k.Close()
	guid, _, _ := k.GetStringValue("MachineGuid")
	return guid
}
