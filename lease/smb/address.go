package smb

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"strings"
)

// Scheme begins every address of this package.
const Scheme = "smb://"

// defaultPort is that of SMB over TCP.
const defaultPort = "445"

// address is an smb:// URL taken apart.
type address struct {
	domain, user string
	host, port   string
	share        string
	folder       string // slash-separated, "" for the share's root
}

// parse reads smb://[domain;]user@host[:port]/share/folder. A backslash in it
// (DOMAIN\user) is as good as %5C. No error repeats the text, which may hold a
// password by mistake.
func parse(text string) (address, error) {
	if len(text) < len(Scheme) || !strings.EqualFold(text[:len(Scheme)], Scheme) {
		return address{}, errors.New("it does not begin with " + Scheme)
	}
	u, err := url.Parse(Scheme + strings.ReplaceAll(text[len(Scheme):], `\`, "%5C"))
	if err != nil {
		return address{}, errors.New("it is not a valid address; special characters are written %XX")
	}
	if _, has := u.User.Password(); has {
		return address{}, errors.New("it holds a password; that belongs in LEASE_SMB_PASSWORD")
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return address{}, errors.New("a ? or # in it must be written %3F or %23")
	}
	a := address{user: u.User.Username(), host: u.Hostname(), port: u.Port()}
	for _, sep := range []string{";", `\`} {
		if domain, user, ok := strings.Cut(a.user, sep); ok {
			a.domain, a.user = domain, user
			break
		}
	}
	if a.port == "" {
		a.port = defaultPort
	}
	a.share, a.folder, _ = strings.Cut(strings.Trim(strings.ReplaceAll(u.Path, `\`, "/"), "/"), "/")
	a.folder = strings.Trim(a.folder, "/")
	return a, a.check()
}

func (a address) check() error {
	switch {
	case a.user == "":
		return errors.New("it names no user (smb://user@host/share/folder)")
	case a.host == "":
		return errors.New("it names no server")
	case a.share == "":
		return errors.New("it names no share")
	case a.folder != "" && path.Clean("/"+a.folder) != "/"+a.folder:
		return fmt.Errorf("%q is not a plain folder", a.folder)
	}
	return nil
}

// dial is the address to connect to.
func (a address) dial() string { return net.JoinHostPort(a.host, a.port) }

// mount is the name of the share on its server.
func (a address) mount() string { return `\\` + a.host + `\` + a.share }

// server names the server for people.
func (a address) server() string {
	if a.port == defaultPort {
		return a.host
	}
	return a.dial()
}

// who names the account for people.
func (a address) who() string {
	if a.domain == "" {
		return a.user
	}
	return a.domain + `\` + a.user
}

// String is the address as written, without anything secret.
func (a address) String() string {
	user := a.user
	if a.domain != "" {
		user = a.domain + ";" + a.user
	}
	s := Scheme + user + "@" + a.server() + "/" + a.share
	if a.folder != "" {
		s += "/" + a.folder
	}
	return s
}
