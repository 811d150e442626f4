package config

import (
	"net/url"
	"strings"
)

// ShareHost is the file server's name in LEASE_DIR, or empty: a drive letter or
// a local folder does not tell.
func (c Config) ShareHost() string {
	if host, _, unc := splitUNC(c.LeaseDir); unc {
		host, _, _ = strings.Cut(host, "@") // a port, or @SSL
		if strings.ContainsAny(host, "$?.") && oddServer(c.LeaseDir) != "" {
			return "" // no machine of the LAN
		}
		return host
	}
	if u, err := url.Parse(c.LeaseDir); err == nil && u.Scheme == "smb" { // the parser lowers the scheme
		return u.Hostname()
	}
	return ""
}

// splitUNC takes the server and what follows it from a UNC path in any of its
// spellings: \\server\share, //server/share, \\server/share, \\?\UNC\server\share.
func splitUNC(dir string) (host, rest string, unc bool) {
	p := strings.ReplaceAll(dir, "/", `\`)
	if len(p) >= 8 && (strings.EqualFold(p[:8], `\\?\UNC\`) || strings.EqualFold(p[:8], `\\.\UNC\`)) {
		p = `\\` + p[8:]
	}
	if !strings.HasPrefix(p, `\\`) || strings.HasPrefix(p, `\\?\`) || strings.HasPrefix(p, `\\.\`) {
		return "", "", false
	}
	host, rest, _ = strings.Cut(p[2:], `\`)
	return host, strings.Trim(rest, `\`), true
}

// oddServer says what is behind a UNC path if it is no file server.
func oddServer(dir string) string {
	host, rest, unc := splitUNC(dir)
	if !unc {
		return ""
	}
	share, _, _ := strings.Cut(rest, `\`)
	name, _, at := strings.Cut(strings.ToLower(host), "@")
	switch {
	case at, strings.EqualFold(share, "DavWWWRoot"):
		return "a WebDAV folder"
	case name == "tsclient":
		return "a drive of the PC that is connected by remote desktop"
	case name == "wsl$", name == "wsl.localhost":
		return "a folder of the Linux subsystem of this PC"
	}
	return ""
}
