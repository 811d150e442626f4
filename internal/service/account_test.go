package service

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a service can reach: a mapped drive never, a UNC path with an account
// the server knows, smb:// always.
func TestCheckAccount(t *testing.T) {
	drives := map[string]string{"W:": `\\nas\pos`, "C:": ""}
	remote := func(d string) (string, bool) { unc, known := drives[d]; return unc, known }
	for _, c := range []struct {
		name, dir, user string
		workgroup       bool
		do              string // what the advice contains; empty: accepted
	}{
		{"mapped drive, LocalSystem", `W:\socket`, "", true, `LEASE_DIR=\\nas\pos\socket`},
		{"mapped drive, with an account", `w:\socket`, `.\floatrelay`, true, `LEASE_DIR=\\nas\pos\socket`},
		{"mapped drive, in a domain", `W:\socket`, `STORE\relay`, false, "--user"},
		{"drive this console does not see", `X:\socket`, "", true, `LEASE_DIR=\\server\share\socket`},
		{"disk of this PC", `C:\socket`, "", true, ""},
		{"UNC, LocalSystem, workgroup", `\\nas\pos\socket`, "", true, "smb://"},
		{"UNC, LocalSystem by name", `\\nas\pos\socket`, `NT AUTHORITY\SYSTEM`, true, "--user"},
		{"UNC, LocalSystem, domain", `\\nas\pos\socket`, "", false, ""},
		{"UNC, with an account", `\\nas\pos\socket`, `.\floatrelay`, true, ""},
		{"smb://", "smb://relay@nas/pos/socket", "", true, ""},
		{"SMB://", "SMB://relay@nas/pos/socket", "", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckAccount(c.dir, c.user, Host{Workgroup: c.workgroup, Remote: remote})
			if c.do == "" {
				require.NoError(t, err)
				return
			}
			var refused *AccountError
			require.ErrorAs(t, err, &refused)
			require.NotEmpty(t, refused.Why)
			require.Contains(t, refused.Do, c.do)
		})
	}
}

func TestAccountName(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "relay": `.\relay`, `.\relay`: `.\relay`, `STORE\relay`: `STORE\relay`, "relay@store.lan": "relay@store.lan",
		"LocalSystem": "LocalSystem",
	} {
		require.Equal(t, want, AccountName(in), "of %q", in)
	}
}

func TestPlan_Check(t *testing.T) {
	good := Plan{Exe: abs("floatrelay"), Config: abs("stk.ini")}
	require.NoError(t, good.check())
	for name, c := range map[string]struct {
		change func(*Plan)
		text   string
	}{
		"relative program": {func(p *Plan) { p.Exe = "floatrelay" }, "not absolute"},
		"relative stk.ini": {func(p *Plan) { p.Config = "stk.ini" }, "not absolute"},
		"quote":            {func(p *Plan) { p.Config = abs(`a"b`) }, "quote"},
		"line break":       {func(p *Plan) { p.Exe = abs("a\nb") }, "line break"},
		"password alone":   {func(p *Plan) { p.Password = "x" }, "without a user"},
	} {
		t.Run(name, func(t *testing.T) {
			p := good
			c.change(&p)
			require.ErrorContains(t, p.check(), c.text)
		})
	}
}
