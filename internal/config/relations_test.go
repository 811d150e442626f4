package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

func TestRelations_NameBothKeysAndTheirOrigins(t *testing.T) {
	_, p := refuse(t, "[RELAY]\nLEASE_TTL=3\n")
	require.Equal(t, "/etc/stk.ini:2: LEASE_RENEW=3s (default) is more than LEASE_TTL/3; allowed: at most 1s while LEASE_TTL=3s (stk.ini:2)\n"+
		"/etc/stk.ini:2: LEASE_FENCE=1.5s (default) is more than LEASE_TTL/3; allowed: at most 1s while LEASE_TTL=3s (stk.ini:2)", p.Error())
	_, p = refuse(t, "LEASE_FENCE=350ms\n")
	require.Equal(t, "/etc/stk.ini:1: LEASE_BEAT=250ms (default) is more than LEASE_FENCE/5; allowed: at most 70ms while LEASE_FENCE=350ms (stk.ini:1)", p.Error())
	_, p = refuse(t, "LEASE_RENEW=4\n")
	require.Equal(t, "/etc/stk.ini:1: LEASE_RENEW=4s is more than LEASE_TTL/3; allowed: at most 3.333s while LEASE_TTL=10s (default)", p.Error())
	_, err := Parse("/etc/stk.ini", []byte("KMSN=1\nSTATION=A\nRELAY_TOKEN=x\nSTATE_DIR=/s\n"), envOf("LEASE_BEAT=301ms"))
	require.EqualError(t, err, "environment: FLOATRELAY_LEASE_BEAT=301ms is more than LEASE_FENCE/5; allowed: at most 300ms while LEASE_FENCE=1.5s (default)")
}

func TestRelations_ExactBoundsAreAllowed(t *testing.T) {
	read(t, "LEASE_TTL=3\nLEASE_RENEW=1\nLEASE_FENCE=1\nLEASE_BEAT=200ms\n")
	read(t, "LEASE_FENCE=300ms\nLEASE_BEAT=60ms\n")
	read(t, "LEASE_FENCE=350ms\nLEASE_BEAT=70ms\n")
	read(t, "LEASE_TTL=20\nLEASE_RENEW=6.666\nLEASE_FENCE=6.666\nLEASE_BEAT=1.3\n")
}

func TestRelations_ARefusedKeyBlamesNoOther(t *testing.T) {
	_, p := refuse(t, "LEASE_TTL=99\nLEASE_FENCE=x\n")
	require.Len(t, p, 2)
	_, p = refuse(t, "RELAY_PORT=x\nAPI_ADDR=127.0.0.1:9530\n")
	require.Len(t, p, 1)
}

type noSealer struct{}

func (noSealer) Seal(lease.Record) ([]byte, error) { return nil, nil }

// Whatever this package accepts, the arbiter must accept too, and the reverse.
func TestRelations_AgreeWithTheArbiter(t *testing.T) {
	ms := []string{"0.02", "0.06", "0.07", "0.1", "0.25", "0.3", "0.35", "1", "1.5", "3", "3.4", "6.7", "10", "20"}
	for _, ttl := range []string{"3", "5", "10", "20"} {
		for _, fence := range ms {
			for _, beat := range ms {
				for _, renew := range []string{"0.1", "1", "3", "6.7"} {
					l, err := complete("LEASE_TTL=" + ttl + "\nLEASE_FENCE=" + fence + "\nLEASE_BEAT=" + beat + "\nLEASE_RENEW=" + renew + "\n")
					d := func(s string) time.Duration { v, _ := ParseDuration(s); return v }
					a := arbiter.Config{Self: lease.ID{Node: "n", Run: "r"}, Boot: "b", Sealer: noSealer{}, Poll: time.Second, NewShare: func() string { return "s" },
						TTL: d(ttl), Fence: d(fence), Beat: d(beat), Renew: d(renew)}
					require.Equal(t, a.Validate() == nil, err == nil, "%v against %v %v", err, a.Validate(), l)
				}
			}
		}
	}
}
