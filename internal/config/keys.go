package config

import (
	"strings"
	"time"
)

// Key is one row of the table of settings. Defaults, parsing, error texts, the
// template and docs/configuration.md all come from it.
type Key struct {
	Name     string
	Group    string // heading in the template and the docs
	Default  string // as it would be written in stk.ini; "" is none
	PerOS    string // says the default in words where it depends on the system
	Allowed  string // what is allowed, for errors and docs
	Doc      string // one or two sentences
	Required bool
	Secret   bool
	Plain    bool // a number or fixed word: a ;comment may follow it

	// set parses the text into c and returns it in canonical form. The error
	// is an *issue, or a text that replaces "is not allowed".
	set func(c *Config, text string) (string, error)
	// osDefault computes a default that depends on the system.
	osDefault func(env Env) string
}

// Env looks a variable of the environment up, as os.LookupEnv does.
type Env func(name string) (string, bool)

// EnvPrefix makes the name of an overriding variable: FLOATRELAY_ + key.
const EnvPrefix = "FLOATRELAY_"

// The groups, in the order of the docs.
const (
	groupSite   = "Site and station"
	groupLease  = "Lease"
	groupRelay  = "Relay"
	groupGossip = "Members"
	groupHost   = "This PC"
)

// The defaults that depend on the system, in words for all of them.
const (
	stateDirWords = `Windows: %ProgramData%\floatrelay; Linux: /var/lib/floatrelay as root, else $XDG_STATE_HOME/floatrelay or ~/.local/state/floatrelay`
	logFileWords  = `Windows: %ProgramData%\floatrelay\floatrelay.log; elsewhere standard error`
)

// Keys returns the table in the order of the docs.
func Keys() []*Key { return keys }

var keys = concat(siteKeys(), leaseKeys(), relayKeys(), gossipKeys(), forwardKeys(), hostKeys())

var keysByName = func() map[string]*Key {
	m := make(map[string]*Key, len(keys))
	for _, k := range keys {
		m[k.Name] = k
	}
	return m
}()

// lookupKey finds a key whatever its case, or returns nil.
func lookupKey(name string) *Key { return keysByName[strings.ToUpper(name)] }

func concat(groups ...[]*Key) (all []*Key) {
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

func in(group string, ks ...*Key) []*Key {
	for _, k := range ks {
		k.Group = group
	}
	return ks
}

func siteKeys() []*Key {
	return in(groupSite,
		&Key{Name: "KMSN", Required: true, Allowed: nameRange(maxKMSN),
			Doc: "The site. All PCs of a site have the same one; it also enters the keys, so that two sites never merge.",
			set: name(maxKMSN, func(c *Config) *string { return &c.KMSN })},
		&Key{Name: "STATION", Required: true, Allowed: nameRange(maxStation),
			Doc: "The code of this PC, different on every PC of the site.",
			set: station},
		&Key{Name: "RELAY_TOKEN", Required: true, Secret: true, Allowed: secretRange,
			Doc: "The secret of the site, the same on all its PCs. Make one with: floatrelay token new",
			set: secret(func(c *Config) *Secret { return &c.Token })},
		&Key{Name: "RELAY_TOKEN_OLD", Secret: true, Allowed: secretRange,
			Doc: "The previous secret, still accepted from others while the token is being changed PC by PC.",
			set: secret(func(c *Config) *Secret { return &c.OldToken })},
	)
}

func leaseKeys() []*Key {
	return in(groupLease,
		&Key{Name: "LEASE_DIR", Default: `W:\socket`, Allowed: leaseDirRange,
			Doc: "The shared folder that holds the lease. It must exist; floatrelay never creates it. A service sees no drive letters: give it the UNC path or smb://.",
			set: leaseDir},
		&Key{Name: "LEASE_SMB_PASSWORD", Secret: true, Allowed: secretRange,
			Doc: "The password for an smb:// LEASE_DIR. Keep stk.ini from other users' eyes. For a console it may stand in the environment variable " + EnvPrefix + "LEASE_SMB_PASSWORD instead, which a service does not get.",
			set: secret(func(c *Config) *Secret { return &c.SMBPassword })},
		duration("LEASE_TTL", "10", minTTL, maxTTL, "",
			"How long the relay may run without the share. Without gossip it is also how long the others wait before they take over.",
			func(c *Config) *time.Duration { return &c.LeaseTTL }),
		duration("LEASE_RENEW", "3", 100*time.Millisecond, maxTTL/3, " and at most LEASE_TTL/3",
			"How often the leader renews the lease on the share.",
			func(c *Config) *time.Duration { return &c.LeaseRenew }),
		duration("LEASE_POLL", "2", 100*time.Millisecond, 10*time.Second, "",
			"How often the other members look at the share.",
			func(c *Config) *time.Duration { return &c.LeasePoll }),
		duration("LEASE_FENCE", "1.5s", minFence, maxTTL/3, " and at most LEASE_TTL/3",
			"After this much silence between leader and members the relay stops here and starts elsewhere.",
			func(c *Config) *time.Duration { return &c.LeaseFence }),
		duration("LEASE_BEAT", "250ms", 20*time.Millisecond, maxTTL/15, " and at most LEASE_FENCE/5",
			"How often the leader tells the members that it is alive.",
			func(c *Config) *time.Duration { return &c.LeaseBeat }),
	)
}

func relayKeys() []*Key {
	return in(groupRelay,
		&Key{Name: "RELAY_EXE", Allowed: pathRange + "; a relative one counts from the folder of stk.ini",
			Doc: "The relay program: relay_server.exe, or a .bat file that starts it. Without it this PC never leads.",
			set: relayExe},
		&Key{Name: "RELAY_ARGS", Allowed: argsRange,
			Doc: "Its arguments. A backslash is an ordinary character.",
			set: relayArgs},
		number("RELAY_PORT", "9530", 1, 65534,
			"The port of the relay. The next one (video) belongs to the relay too.",
			func(c *Config) *int { return &c.RelayPort }),
		duration("RELAY_START_TIMEOUT", "60s", time.Second, 10*time.Minute, "",
			"How long the relay may take until it accepts connections.",
			func(c *Config) *time.Duration { return &c.RelayStartTimeout }),
		words("RELAY_PING", "tcp", []string{"tcp", "hello"},
			"How the relay is asked whether it works: tcp = it accepts a connection, hello = it answers a hello, as the built-in stand-in does.",
			func(c *Config) *string { return &c.RelayPing }),
		&Key{Name: "RELAY_HOST", Allowed: "host or host:port",
			Doc: "The existing fixed or cloud relay, offered to clients as a fallback while there is no leader.",
			set: relayHost},
		number("RELAY_PRIORITY", "100", 0, 1000,
			"Who leads first when several could: the highest. 0 = this PC never leads.",
			func(c *Config) *int { return &c.RelayPriority }),
		boolean("RELAY_PREEMPT", "0",
			"1 = take the lease back from a PC of lower priority after 30 s of stable running.",
			func(c *Config) *bool { return &c.RelayPreempt }),
	)
}

func gossipKeys() []*Key {
	return in(groupGossip,
		number("GOSSIP_PORT", "7946", 1, 65535,
			"The UDP and TCP port on which members talk to each other, the same on all PCs of the site.",
			func(c *Config) *int { return &c.GossipPort }),
		&Key{Name: "GOSSIP_BIND", Allowed: "an IP address of this PC", PerOS: "chosen by route",
			Doc: "The address to listen on. A loopback address, for trying several stations on one PC, needs the same one as GOSSIP_ADVERTISE.",
			set: bindAddress},
		&Key{Name: "GOSSIP_ADVERTISE", Allowed: "an IPv4 address (not 0.0.0.0)", PerOS: "chosen by route",
			Doc: "The LAN address told to the others and written into the lease. Needed only where floatrelay cannot choose between several.",
			set: advertise},
		&Key{Name: "GOSSIP_PEERS", Allowed: "hosts or host:port, separated by commas, semicolons or blanks",
			Doc: "Members to contact at start, beside those found on the share. Without a port GOSSIP_PORT is used.",
			set: peers},
	)
}

func hostKeys() []*Key {
	return in(groupHost,
		&Key{Name: "API_ADDR", Default: "127.0.0.1:9532", Allowed: "a loopback address and port, such as 127.0.0.1:9532",
			Doc: "Where the local HTTP interface listens. It is never reachable from other PCs.",
			set: apiAddr},
		&Key{Name: "STATE_DIR", Required: true, Allowed: pathRange, PerOS: stateDirWords, osDefault: defaultStateDir,
			Doc: "Where this PC keeps its identity and what it remembers. Never copy it to another PC.",
			set: path(false, func(c *Config) *string { return &c.StateDir })},
		words("LANG_UI", "auto", []string{"auto", "en", "zh-TW"},
			"The language of the log, the notes and the commands; auto is the system's. Codes in JSON do not depend on it.",
			func(c *Config) *string { return &c.LangUI }),
		words("LOG_LEVEL", "info", []string{"debug", "info", "warn", "error"},
			"How much is logged.",
			func(c *Config) *string { return &c.LogLevel }),
		&Key{Name: "LOG_FILE", Allowed: pathRange + `; or "-" for standard error only`, PerOS: logFileWords, osDefault: defaultLogFile,
			Doc: "The log, rotated and bounded.",
			set: logFile},
	)
}
