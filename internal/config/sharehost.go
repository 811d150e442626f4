package config

import (
	"net/url"
	"strings"
)

// ShareHost is the file server's name in LEASE_DIR, or empty: a drive letter or
// a local folder does not tell.
func (c Config) ShareHost() string {
	if rest, ok := strings.CutPrefix(c.LeaseDir, `\\`); ok {
		host, _, _ := strings.Cut(rest, `\`)
		return host
	}
	if u, err := url.Parse(c.LeaseDir); err == nil && u.Scheme == "smb" { // the parser lowers the scheme
		return u.Hostname()
	}
	return ""
}
