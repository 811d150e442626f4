package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/convertfw/floatrelay/internal/config"
)

// loadForService reads the configuration as the service will: from stk.ini
// alone, because the overrides of this console are not in its environment. It
// fails, naming each, if one of them changes something.
func (a *app) loadForService() (path string, loaded *config.Loaded, err error) {
	path, here, _ := a.load()
	path, loaded, err = a.loadWith(path, func(name string) (string, bool) {
		if strings.HasPrefix(strings.ToUpper(name), config.EnvPrefix) {
			return "", false
		}
		return a.lookupEnv(name)
	})
	if loaded == nil || here == nil {
		return path, loaded, err
	}
	if err = errors.Join(onlyHere(path, here, loaded), err); err != nil {
		return path, nil, err
	}
	return path, loaded, nil
}

// onlyHere names every override that gives a key another value than the file
// does.
func onlyHere(path string, here, file *config.Loaded) error {
	var all []error
	for _, v := range here.Values {
		if v.Origin != config.FromEnvironment {
			continue
		}
		if there, ok := file.Get(v.Key); !ok || there.Text != v.Text {
			all = append(all, fmt.Errorf("%s is set here, but a service does not get the variables of a console: write %s into %s, or unset it",
				config.EnvPrefix+v.Key, v.Key, path))
		}
	}
	return errors.Join(all...)
}

// noteMissingPassword remarks on an smb:// share that the service will be let
// into only if somebody gives it the password in another way.
func (a *app) noteMissingPassword(cfg config.Config) {
	if config.IsSMB(cfg.LeaseDir) && cfg.SMBPassword == "" {
		a.note("LEASE_DIR is smb://, but %s has no LEASE_SMB_PASSWORD: the file server may refuse the service", cfg.Path)
	}
}
