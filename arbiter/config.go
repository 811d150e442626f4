package arbiter

import (
	"fmt"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// Sealer turns a record into its signed bytes. Production uses lease.Codec,
// which also stamps LeaseUntil from the wall clock; the machine never looks at
// that field.
type Sealer interface {
	Seal(lease.Record) ([]byte, error)
}

// Config is everything a Machine is told once.
type Config struct {
	Self     lease.ID
	Boot     string // see lease.Record.Boot
	KMSN     string
	Station  string
	IP       string
	Port     int
	PID      int
	Priority int // RELAY_PRIORITY: higher leads first, 0 never leads
	Preempt  bool

	TTL   time.Duration // LEASE_TTL
	Renew time.Duration // LEASE_RENEW
	Poll  time.Duration // LEASE_POLL
	Fence time.Duration // LEASE_FENCE
	Beat  time.Duration // LEASE_BEAT
	Grace time.Duration // how long a planned stop may ask nicely

	// FloorRev and FloorEpoch are the highest ever known here (STATE_DIR, the
	// published view within plausible bounds). They keep revs and epochs
	// growing when the folder is lost. FloorEpoch belongs to FloorRev.
	FloorRev, FloorEpoch uint64

	Seed   uint64 // for the random delays of outsiders
	Sealer Sealer
	// NewShare returns a share id never used before, for a chain this node has
	// to found.
	NewShare func() string
}

// Validate reports the first relation between the figures that would make the
// protocol unsafe or useless, with the reason.
func (c Config) Validate() error {
	switch {
	case c.Self.Node == "" || c.Self.Run == "":
		return fmt.Errorf("arbiter: self has no node or run id")
	case c.Boot == "":
		return fmt.Errorf("arbiter: no boot id: two of them would count as one boot")
	case c.NewShare == nil:
		return fmt.Errorf("arbiter: no source of share ids")
	case c.Sealer == nil:
		return fmt.Errorf("arbiter: no sealer")
	case c.TTL < 3*time.Second || c.TTL > lease.TTLMax:
		return fmt.Errorf("arbiter: LEASE_TTL %v is outside 3s to %v, the bound every reader assumes", c.TTL, lease.TTLMax)
	case c.Fence < 300*time.Millisecond:
		return fmt.Errorf("arbiter: LEASE_FENCE %v is below 300ms: KILL_MARGIN would be too short to kill a process tree", c.Fence)
	case c.Fence > c.TTL/3:
		return fmt.Errorf("arbiter: LEASE_FENCE %v is above LEASE_TTL/3 (%v)", c.Fence, c.TTL/3)
	case c.Beat <= 0 || 5*c.Beat > c.Fence:
		return fmt.Errorf("arbiter: LEASE_BEAT %v is above LEASE_FENCE/5 (%v): two lost beats would fence the leader", c.Beat, c.Fence/5)
	case c.Renew <= 0 || c.Renew > c.TTL/3:
		return fmt.Errorf("arbiter: LEASE_RENEW %v is above LEASE_TTL/3 (%v)", c.Renew, c.TTL/3)
	case c.Poll <= 0:
		return fmt.Errorf("arbiter: LEASE_POLL %v is not positive", c.Poll)
	}
	return nil
}
