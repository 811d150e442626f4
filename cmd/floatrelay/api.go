package main

import (
	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/localapi"
)

// reader returns a client for commands that only ask.
func (a *app) reader(cmd *cobra.Command) (*localapi.Client, error) {
	addr, err := a.apiAddress()
	if err != nil {
		return nil, err
	}
	return a.client(cmd, addr)
}

// changer returns a client for commands that change something: they need the
// site's token. The daemon may have been started before the token was changed,
// so the old one is tried too.
func (a *app) changer(cmd *cobra.Command) (*localapi.Client, error) {
	_, loaded, err := a.load()
	if err != nil {
		return nil, configError(err)
	}
	addr := a.apiAddr
	if addr == "" {
		addr = loaded.Config.APIAddr
	}
	cfg := loaded.Config
	return a.client(cmd, addr, localapi.Bearer(string(cfg.Token), cfg.KMSN), localapi.Bearer(string(cfg.OldToken), cfg.KMSN))
}

func (a *app) client(cmd *cobra.Command, addr string, bearers ...string) (*localapi.Client, error) {
	c, err := localapi.NewClient(addr, bearers...)
	switch {
	case err != nil && a.apiAddr != "":
		return nil, usageError(cmd, "--api: %w", err)
	case err != nil:
		return nil, configError(err)
	}
	return c, nil
}
