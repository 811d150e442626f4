package config

import "time"

// Secret is a text that does not print. Convert it with string() where the real
// value is needed.
type Secret string

// String tells only whether there is a secret, so that one in a log line stays
// one; Config.TokenPrint is for comparing.
func (s Secret) String() string {
	if s == "" {
		return "none"
	}
	return "(secret)"
}

// GoString does the same for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText does the same for JSON and zap.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Config holds every setting, parsed and checked. The zero Config is not
// usable; Load makes one.
type Config struct {
	Path string // absolute path of the stk.ini it was read from

	KMSN     string // site
	Station  string // this PC
	Token    Secret // RELAY_TOKEN, never empty
	OldToken Secret // RELAY_TOKEN_OLD, empty when no rotation is under way

	LeaseDir    string        // absolute folder, UNC path or smb:// URL
	LeaseTTL    time.Duration // 3 s to 20 s
	LeaseRenew  time.Duration // at most TTL/3
	LeasePoll   time.Duration
	LeaseFence  time.Duration // at least 300 ms, at most TTL/3
	LeaseBeat   time.Duration // at most Fence/5
	SMBPassword Secret        // LEASE_SMB_PASSWORD

	RelayExe          string   // absolute, or empty
	RelayArgs         []string // see SplitArgs
	RelayPort         int      // RelayPort+1 belongs to the relay too
	RelayStartTimeout time.Duration
	RelayPing         string // "tcp" or "hello"
	RelayHost         string // host or host:port, as written; or empty
	RelayPriority     int    // 0 never leads
	RelayPreempt      bool

	ForwardPort     int // ForwardPort+1 belongs to the forwarder too; 0: off
	ForwardHold     time.Duration
	ForwardFallback bool
	ForwardIdle     time.Duration // 0: never

	GossipPort      int
	GossipBind      string   // IP address, or empty: chosen
	GossipAdvertise string   // IPv4 address, or empty: chosen
	GossipPeers     []string // host:port each

	APIAddr  string // loopback host:port
	StateDir string // absolute
	LangUI   string // auto, en or zh-TW
	LogLevel string // debug, info, warn or error
	LogFile  string // absolute, or empty: standard error only
}

// TokenPrint returns the fingerprint of RELAY_TOKEN at this site.
func (c *Config) TokenPrint() string { return Fingerprint(c.KMSN, string(c.Token)) }

// OldTokenPrint returns the fingerprint of RELAY_TOKEN_OLD, or "".
func (c *Config) OldTokenPrint() string {
	if c.OldToken == "" {
		return ""
	}
	return Fingerprint(c.KMSN, string(c.OldToken))
}

// Loaded is what Load made of a file and the environment.
type Loaded struct {
	// Config is the result. It is the zero Config when Load also returned an
	// error: half a configuration is never used.
	Config Config
	// Values lists every key in the order of the table, for people.
	Values []Value
	// Warnings are in the order of their lines.
	Warnings []Warning
	// Encoding names how the file was read: "UTF-8", "UTF-16 LE", "cp950", …
	Encoding string
}

// Value is one effective setting as shown to people.
type Value struct {
	Key  string `json:"key"`
	Text string `json:"value"` // a secret is replaced by its fingerprint
	// Origin is "stk.ini:12", "environment" or "default".
	Origin string `json:"origin"`
	Secret bool   `json:"secret,omitempty"`
}

// Get returns the value of a key as shown to people, or false.
func (l *Loaded) Get(key string) (Value, bool) {
	for _, v := range l.Values {
		if v.Key == key {
			return v, true
		}
	}
	return Value{}, false
}
