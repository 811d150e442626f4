package config

import (
	"errors"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	pathRange     = "an absolute path without quotes around it"
	leaseDirRange = `an absolute folder (W:\socket), a UNC path (\\server\share\socket) or smb://user@server/share/folder`
	smbScheme     = "smb://"
)

// path accepts an absolute path of either system: which one exists here is
// doctor's business, and a stk.ini is often checked on another PC. With
// relative it also accepts one that Load joins to the folder of stk.ini.
func path(relative bool, field func(*Config) *string) func(*Config, string) (string, error) {
	return func(c *Config, text string) (string, error) {
		if err := checkPath(text); err != nil {
			return "", err
		}
		if !isAbs(text) {
			if !relative {
				return "", errors.New("is not an absolute path")
			}
			text = filepath.Join(filepath.Dir(c.Path), text)
		}
		*field(c) = text
		return text, nil
	}
}

func checkPath(text string) error {
	if err := checkText(text); err != nil {
		return err
	}
	if quotes(text) != "" {
		return errors.New("has quotes, which would be a part of the path")
	}
	return nil
}

// isAbs reports whether a path is absolute on some system.
func isAbs(p string) bool {
	return filepath.IsAbs(p) || strings.HasPrefix(p, `\\`) || strings.HasPrefix(p, "/") || isDrivePath(p)
}

// isDrivePath recognises W:\folder.
func isDrivePath(p string) bool {
	if len(p) < 3 || p[1] != ':' || p[2] != '\\' && p[2] != '/' {
		return false
	}
	letter := p[0] | 0x20
	return letter >= 'a' && letter <= 'z'
}

// IsSMB reports whether a LEASE_DIR is an smb:// address.
func IsSMB(dir string) bool {
	return len(dir) >= len(smbScheme) && strings.EqualFold(dir[:len(smbScheme)], smbScheme)
}

func leaseDir(c *Config, text string) (string, error) {
	if err := checkPath(text); err != nil {
		return "", err
	}
	if IsSMB(text) {
		if err := checkSMB(text); err != nil {
			return "", err
		}
	} else if !isAbs(text) {
		return "", errors.New("is not an absolute folder")
	} else if host, rest, unc := splitUNC(text); unc && strings.HasPrefix(text, `\\`) && (host == "" || rest == "") {
		return "", errors.New("names no share")
	}
	c.LeaseDir = text
	return text, nil
}

// checkSMB looks at the parts of smb://user@host/share/folder. A backslash in
// it (DOMAIN\user) is as good as %5C.
func checkSMB(text string) error {
	u, err := url.Parse(strings.ReplaceAll(text, `\`, "%5C"))
	if err != nil {
		return errors.New("is not a valid smb:// address")
	}
	if _, has := u.User.Password(); has {
		return errors.New("must not contain the password (use LEASE_SMB_PASSWORD)")
	}
	switch {
	case u.User.Username() == "":
		return errors.New("names no user")
	case u.Hostname() == "":
		return errors.New("names no server")
	case strings.Trim(u.Path, "/") == "":
		return errors.New("names no share")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("has a '?' or '#', which must be written %3F and %23")
	}
	return nil
}

// holdsPassword recognises user:password@host in any text, also in one that is
// no valid address.
func holdsPassword(text string) bool {
	at := strings.LastIndexByte(text, '@')
	return at >= 0 && strings.Contains(scheme.ReplaceAllString(text[:at], ""), ":")
}

var scheme = regexp.MustCompile(`^[A-Za-z]+:/*`)

func logFile(c *Config, text string) (string, error) {
	if text == "-" {
		c.LogFile = ""
		return "-", nil
	}
	return path(false, func(c *Config) *string { return &c.LogFile })(c, text)
}

// programThenMore recognises a program with arguments behind it.
var programThenMore = regexp.MustCompile(`(?i)\.(exe|com|bat|cmd|sh|py)"?[ \t]+[^\\/ \t]*$|\.(exe|com|bat|cmd|sh|py)"?[ \t]+[-/]`)

func relayExe(c *Config, text string) (string, error) {
	if programThenMore.MatchString(text) && !programAtEnd.MatchString(text) {
		return "", errors.New("has arguments behind the program: write them into RELAY_ARGS")
	}
	return path(true, func(c *Config) *string { return &c.RelayExe })(c, text)
}

var programAtEnd = regexp.MustCompile(`(?i)\.(exe|com|bat|cmd|sh|py)$`)
