package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/words"
)

// defaultAPIAddr is where the daemon answers if nothing can be read.
const defaultAPIAddr = "127.0.0.1:9532"

// load reads the configuration this command line means. The path is returned
// as soon as it is known, and what could be read is returned beside an error
// (see config.Load); it is nil if the file could not be read. It ends with the
// program: see unlessEnded.
func (a *app) load() (path string, loaded *config.Loaded, err error) {
	return a.loadWith(a.configPath, a.lookupEnv)
}

// loadWith is load for the file named, or found if name is empty, and an
// environment.
func (a *app) loadWith(name string, env config.Env) (path string, loaded *config.Loaded, err error) {
	path, err = unlessEnded(a.ctx, func() (string, error) { return config.Find(name) })
	if err != nil {
		return "", nil, err
	}
	loaded, err = unlessEnded(a.ctx, func() (*config.Loaded, error) { return config.Load(path, env) })
	if errors.Is(err, errInterrupted) {
		return path, nil, fmt.Errorf("read %s: %w", path, err)
	}
	if loaded != nil {
		loaded.Warnings = append(loaded.Warnings, config.StrayEnv(a.env)...)
	}
	if err == nil {
		a.speak(loaded.Config.LangUI)
	}
	return path, loaded, err
}

// speak chooses the language of what is printed: LANG_UI of stk.ini or of the
// environment, or the system's.
func (a *app) speak(setting string) {
	getenv := func(name string) string {
		v, _ := a.lookupEnv(name)
		return v
	}
	a.lang = words.Choose(cmp.Or(setting, getenv(config.EnvPrefix+"LANG_UI")), getenv)
}

// lookupEnv is os.LookupEnv for the environment given to Main. Windows does
// not tell upper from lower case in names.
func (a *app) lookupEnv(name string) (string, bool) {
	for _, kv := range a.env {
		k, v, ok := strings.Cut(kv, "=")
		if ok && (k == name || runtime.GOOS == "windows" && strings.EqualFold(k, name)) {
			return v, true
		}
	}
	return "", false
}

// apiAddress is where to ask: --api, else API_ADDR as far as it can be read. A
// daemon can be asked by who may not read stk.ini, and while a broken stk.ini
// waits for its repair; only a file named with --config must be right.
func (a *app) apiAddress() (string, error) {
	if a.apiAddr != "" {
		return a.apiAddr, nil
	}
	_, loaded, err := a.load()
	switch {
	case err == nil:
		return loaded.Config.APIAddr, nil
	case a.configPath != "" || errors.Is(err, errInterrupted):
		return "", configError(err)
	}
	if loaded != nil {
		if v, ok := loaded.Get("API_ADDR"); ok && v.Text != "" {
			return v.Text, nil
		}
	}
	if v, ok := a.lookupEnv(config.EnvPrefix + "API_ADDR"); ok && v != "" {
		return v, nil
	}
	return defaultAPIAddr, nil
}
