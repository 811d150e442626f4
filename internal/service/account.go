package service

import "strings"

// kind is how an account shows itself to a file server.
type kind uint8

const (
	ordinary  kind = iota // by its own name and password
	computer              // as this PC: an account of the domain, nobody in a workgroup
	anonymous             // as nobody, in a domain too
)

// The accounts that every Windows has, by the names people use for them, in
// lower case and without what says "of this PC", and as the service manager
// wants them.
var builtIn = map[string]struct {
	name string
	kind kind
}{
	"":                             {"", computer},
	"localsystem":                  {"LocalSystem", computer},
	"system":                       {"LocalSystem", computer},
	`nt authority\system`:          {"LocalSystem", computer},
	`nt authority\localsystem`:     {"LocalSystem", computer},
	"networkservice":               {networkService, computer},
	"network service":              {networkService, computer},
	`nt authority\networkservice`:  {networkService, computer},
	`nt authority\network service`: {networkService, computer},
	"localservice":                 {localService, anonymous},
	"local service":                {localService, anonymous},
	`nt authority\localservice`:    {localService, anonymous},
	`nt authority\local service`:   {localService, anonymous},
}

const (
	networkService = `NT AUTHORITY\NetworkService`
	localService   = `NT AUTHORITY\LocalService`
	// virtualDomain is that of the accounts Windows makes for each service.
	virtualDomain = `nt service\`
)

// kindOf tells the system's own accounts from those with a password.
func kindOf(user string) kind {
	user = strings.ToLower(user)
	if b, ok := builtIn[strings.TrimPrefix(user, `.\`)]; ok {
		return b.kind
	}
	if strings.HasPrefix(user, virtualDomain) {
		return computer
	}
	return ordinary
}

// AccountName completes a user name the way the service manager wants it: a
// name without a domain is one of this PC, unless it is one of the system's own
// accounts.
func AccountName(user string) string {
	if b, ok := builtIn[strings.ToLower(strings.TrimPrefix(user, `.\`))]; ok {
		return b.name
	}
	if strings.ContainsAny(user, `\@`) {
		return user
	}
	return `.\` + user
}

// accountWords is an account as a sentence names it.
func accountWords(user string) string {
	if name := AccountName(user); name != "" {
		return name
	}
	return "LocalSystem"
}
