package service

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a service can reach: a mapped drive never, a UNC path with an account
// the server knows, smb:// always.
func TestCheckAccount(t *testing.T) {
	drives := map[string]string{"W:": `\\nas\pos`, "C:": "", "S:": `C:\share`}
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
		{"UNC in forward slashes", "//nas/pos/socket", "", true, "smb://"},
		{"UNC, NetworkService, workgroup", `\\nas\pos\socket`, `NT AUTHORITY\NetworkService`, true, "--user"},
		{"UNC, NetworkService as Windows shows it", `\\nas\pos\socket`, `nt authority\network service`, true, "--user"},
		{"UNC, NetworkService, domain", `\\nas\pos\socket`, `NT AUTHORITY\NetworkService`, false, ""},
		{"UNC, LocalService, workgroup", `\\nas\pos\socket`, `NT AUTHORITY\LocalService`, true, "--user"},
		{"UNC, LocalService is nobody in a domain too", `\\nas\pos\socket`, "LocalService", false, "--user"},
		{"UNC, account of the service itself", `\\nas\pos\socket`, `NT SERVICE\floatrelay`, true, "--user"},
		{"UNC, account of the service itself, domain", `\\nas\pos\socket`, `NT SERVICE\floatrelay`, false, ""},
		{"literal UNC", `\\?\UNC\nas\pos\socket`, "", true, "smb://"},
		{"literal UNC in forward slashes", "//?/unc/nas/pos/socket", "", true, "smb://"},
		{"literal mapped drive", `\\?\W:\socket`, `.\floatrelay`, true, `LEASE_DIR=\\nas\pos\socket`},
		{"mapped drive as a device", `\\.\W:\socket`, `.\floatrelay`, true, `LEASE_DIR=\\nas\pos\socket`},
		{"mapped drive in forward slashes", "W:/socket", "", true, `LEASE_DIR=\\nas\pos\socket`},
		{"literal disk of this PC", `\\?\C:\socket`, "", true, ""},
		{"subst of a folder", `S:\socket`, "", true, `LEASE_DIR=C:\share\socket`},
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

// Every path a service needs is looked at, not only the share.
func TestCheckPlan_EveryPath(t *testing.T) {
	host := Host{Workgroup: true, Remote: func(d string) (string, bool) { return map[string]string{"W:": `\\nas\pos`}[d], true }}
	good := Plan{
		Exe: `C:\STK\floatrelay.exe`, Config: `C:\STK\stk.ini`, LeaseDir: "smb://relay@nas/pos/socket",
		RelayExe: `C:\STK\relay_server.exe`, StateDir: `C:\ProgramData\floatrelay`, LogFile: `C:\floatrelay.log`,
	}
	require.NoError(t, CheckPlan(good, host))
	for what, field := range map[string]func(*Plan) *string{
		"this program": func(p *Plan) *string { return &p.Exe }, "stk.ini": func(p *Plan) *string { return &p.Config },
		"LEASE_DIR": func(p *Plan) *string { return &p.LeaseDir }, "RELAY_EXE": func(p *Plan) *string { return &p.RelayExe },
		"STATE_DIR": func(p *Plan) *string { return &p.StateDir }, "LOG_FILE": func(p *Plan) *string { return &p.LogFile },
	} {
		for path, user := range map[string]string{`W:\x`: `.\relay`, `\\?\W:\x`: `.\relay`, "//nas/pos/x": ""} {
			t.Run(what+" "+path, func(t *testing.T) {
				p := good
				*field(&p), p.User = path, user
				var refused *AccountError
				require.ErrorAs(t, CheckPlan(p, host), &refused)
				require.Contains(t, refused.Why, what)
				require.NotEmpty(t, refused.Do)
			})
		}
	}
}

func TestAccountName(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "relay": `.\relay`, `.\relay`: `.\relay`, `STORE\relay`: `STORE\relay`, "relay@store.lan": "relay@store.lan",
		"LocalSystem": "LocalSystem", "system": "LocalSystem", `.\LocalSystem`: "LocalSystem", `NT AUTHORITY\SYSTEM`: "LocalSystem",
		"NetworkService": networkService, `nt authority\network service`: networkService, `.\NetworkService`: networkService,
		"local service": localService, `NT AUTHORITY\LocalService`: localService,
		`NT SERVICE\floatrelay`: `NT SERVICE\floatrelay`,
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
