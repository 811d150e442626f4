package main

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
)

// tokenBytes is the size of a new token: 160 bits, 32 characters.
const tokenBytes = 20

func newTokenCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make a RELAY_TOKEN, or compare the ones in use",
		RunE: runE(func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "help" {
				return cmd.Help()
			}
			if len(args) > 0 {
				return usageError(cmd, "unknown command %q for %q", args[0], cmd.CommandPath())
			}
			return usageError(cmd, "token needs one of: new, fingerprint, status")
		}),
	}
	cmd.AddCommand(newTokenNewCommand(a), newTokenFingerprintCommand(a), newTokenStatusCommand(a))
	return cmd
}

func newTokenNewCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "new",
		Short: "Print a new random token",
		Args:  noArgs,
		RunE: runE(func(*cobra.Command, []string) error {
			token := newToken()
			if a.json {
				out := map[string]string{"token": token}
				if _, loaded, err := a.load(); err == nil { // fingerprints are of one site
					out["fingerprint"] = config.Fingerprint(loaded.Config.KMSN, token)
				}
				return a.printJSON(out)
			}
			a.note("put it as RELAY_TOKEN into every stk.ini of the site; if there is one in use already, keep that as RELAY_TOKEN_OLD")
			return a.print(token + "\n")
		}),
	}
}

// newToken uses letters and digits only, so that no reader of stk.ini takes a
// part of it for something else.
func newToken() string {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // never fails: it ends the program instead
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

// fingerprints is what may be shown of the tokens in stk.ini.
type fingerprints struct {
	Token  string `json:"token"`
	Old    string `json:"old"`    // empty when no rotation is under way
	Daemon string `json:"daemon"` // what the daemon uses; empty if not asked
	// Rotation is how far the daemon sees a change of the token.
	Rotation *localapi.Rotation `json:"rotation,omitempty"`
}

func (a *app) fingerprints() (fingerprints, error) {
	_, loaded, err := a.load()
	if err != nil {
		return fingerprints{}, configError(err)
	}
	return fingerprints{Token: loaded.Config.TokenPrint(), Old: loaded.Config.OldTokenPrint()}, nil
}

func newTokenFingerprintCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "fingerprint",
		Short: "Print the fingerprint of RELAY_TOKEN, to compare PCs without showing it",
		Args:  noArgs,
		RunE: runE(func(*cobra.Command, []string) error {
			f, err := a.fingerprints()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(f)
			}
			return a.print(f.Token + "\n")
		}),
	}
}

// restartCommands make the daemon read stk.ini anew; the lease is handed over.
const restartCommands = "floatrelay service stop, then floatrelay service start"

func newTokenStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Compare the token of stk.ini with the one the daemon uses",
		Args:  noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			f, err := a.fingerprints()
			if err != nil {
				return err
			}
			c, err := a.reader(cmd)
			if err != nil {
				return err
			}
			s, err := c.Status(cmd.Context())
			if err != nil {
				return err
			}
			f.Daemon, f.Rotation = s.Token, s.Rotation
			if err := a.printTokens(f); err != nil {
				return err
			}
			if f.Daemon != f.Token {
				return &exitError{exitNo, errors.New("the daemon uses another token than stk.ini says"), "restart the daemon: " + restartCommands}
			}
			return nil
		}),
	}
}

func (a *app) printTokens(f fingerprints) error {
	if a.json {
		return a.printJSON(f)
	}
	return a.print(table([][]string{
		{"RELAY_TOKEN", orDash(f.Token)},
		{"RELAY_TOKEN_OLD", orDash(f.Old)},
		{"daemon", orDash(f.Daemon)},
	}) + rotationText(f) + "\n")
}

// rotationText says how far a change of the token has come, and what is next.
func rotationText(f fingerprints) string {
	switch r := f.Rotation; {
	case f.Old == "" && r == nil:
		return "no rotation under way"
	case r == nil:
		return "RELAY_TOKEN_OLD stands in stk.ini, but the daemon has not read it; restart it: " + restartCommands
	case len(r.Waiting) > 0:
		return "rotation under way; still without the new token: " + clean(strings.Join(r.Waiting, ", ")) + "; the old one is used until then"
	case !r.UsesNew:
		return "rotation under way: the old token is used until every member knows the new one"
	}
	return "every member that is on knows the new token, and it is used; once the PCs that are off now have it too, remove RELAY_TOKEN_OLD"
}
