package gossip

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/hashicorp/memberlist"
	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/internal/lanaddr"
	"github.com/convertfw/floatrelay/lease"
)

// Transport carries packets and streams; sockets in production, memnet in
// simulated stations.
type Transport = memberlist.NodeAwareTransport

// Config is everything a Gossip is told once.
type Config struct {
	Self lease.ID // this node and run
	KMSN string   // the site; part of every key

	Token    string // RELAY_TOKEN, never empty
	OldToken string // RELAY_TOKEN_OLD, or empty

	BindAddr      string // GOSSIP_BIND: an IPv4 address, or empty for all of them
	AdvertiseAddr string // the IPv4 address told to the others, see package lanaddr
	Port          int    // GOSSIP_PORT, UDP and TCP; 0 picks a free one

	// Meta is what this member says of itself until the first SetMeta.
	Meta Meta
	// Peers returns candidate addresses ("host" or "host:port") to join:
	// members' files, GOSSIP_PEERS, addresses remembered. It must not block
	// and may be nil.
	Peers func() []string
	// Resolver looks the names among the peers up; nil: the system's.
	Resolver *net.Resolver
	// Race takes part in a race for new files on the share that another member
	// asked for (see lease.RaceOne). It runs by itself, one at a time, and may
	// block; nil refuses.
	Race func(ctx context.Context, race string) (won string, err error)
	// Remembered are rows of an earlier run, listed as dead until seen.
	Remembered []Row

	Log    *zap.Logger // nil: no log
	Tuning Tuning      // zero fields take their defaults

	// Transport overrides the sockets. It is called once per bind with the
	// address that will be advertised; the result is shut down by Gossip.
	Transport func(advertise netip.Addr, port int) (Transport, error)

	// wordy makes this member one of a version without brief messages: it
	// neither announces nor reads nor sends them. For tests.
	wordy bool
}

// Tuning holds the figures tests and benchmarks want to change. The defaults
// detect a dead host in about 1.2–2.1 s.
type Tuning struct {
	ProbeInterval  time.Duration // 300ms: one member is probed this often
	ProbeTimeout   time.Duration // 150ms: no answer by then asks others and TCP
	SuspicionMult  int           // 3
	GossipInterval time.Duration // 100ms
	PushPull       time.Duration // 20s: full exchange with one member
	StreamTimeout  time.Duration // 3s: connecting and every exchange over TCP
	Reclaim        time.Duration // 2s: a dead name may move to a new address
	ToTheDead      time.Duration // 30s: gossip still sent to a dead member

	Rejoin      time.Duration // 10s: members that are off are tried this often
	RejoinAlone time.Duration // 1s, doubling to 5s: the same while nobody else is alive
	MetaEvery   time.Duration // 200ms: shortest time between two updates of our meta
	Heartbeat   time.Duration // 5s: on the connection to the leader, both ways
}

// withDefaults fills in what was left zero.
func (t Tuning) withDefaults() Tuning {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&t.ProbeInterval, 300*time.Millisecond)
	set(&t.ProbeTimeout, 150*time.Millisecond)
	set(&t.GossipInterval, 100*time.Millisecond)
	set(&t.PushPull, 20*time.Second)
	set(&t.StreamTimeout, 3*time.Second)
	set(&t.Reclaim, 2*time.Second)
	set(&t.ToTheDead, 30*time.Second)
	set(&t.Rejoin, 10*time.Second)
	set(&t.RejoinAlone, time.Second)
	set(&t.MetaEvery, 200*time.Millisecond)
	set(&t.Heartbeat, 5*time.Second)
	if t.SuspicionMult == 0 {
		t.SuspicionMult = 3
	}
	return t
}

// validate refuses what cannot work, naming the key to change.
func (c Config) validate() error {
	if err := checkID(c.Self); err != nil {
		return fmt.Errorf("start gossip: self: %w", err)
	}
	switch {
	case c.KMSN == "":
		return fmt.Errorf("start gossip: KMSN is empty")
	case c.Token == "":
		return fmt.Errorf("start gossip: RELAY_TOKEN is empty; set the same secret on every PC of the site")
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("start gossip: GOSSIP_PORT %d is outside 0 to 65535", c.Port)
	}
	_, err := lanaddr.ParseAdvertise(c.AdvertiseAddr)
	return err
}
