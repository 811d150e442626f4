package arbiter

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDriver_LeadsRenewsAndPublishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := drive(t)
		x.leads(t, idB)
		time.Sleep(30*sec + 100*ms)
		synctest.Wait() // no renewal at this very instant
		s := x.Status()
		require.Equal(t, Leader, s.Role)
		require.GreaterOrEqual(t, s.Rev, uint64(16))
		require.Equal(t, []lease.ID{idB}, s.Roster)
		require.Zero(t, x.guards.stopped())
		x.store.mu.Lock()
		defer x.store.mu.Unlock()
		last := x.store.views[len(x.store.views)-1]
		require.True(t, last.Ready)
		require.Equal(t, s.Rev, last.Rev)
	})
}

func TestDriver_AStuckLaneDoesNotStallTheOthers(t *testing.T) {
	for _, lane := range []string{"read", "publish", "housekeep"} {
		t.Run(lane, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := drive(t)
				x.leads(t, idB)
				x.store.setStuck(lane, true)
				time.Sleep(sec)
				before := x.store.count("create")
				time.Sleep(2 * time.Minute)
				require.GreaterOrEqual(t, x.store.count("create")-before, 39)
				require.Equal(t, RelayRunning, x.Status().Relay)
				require.Zero(t, x.guards.stopped())
			})
		})
	}
	t.Run("create", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := drive(t)
			x.leads(t, idB)
			x.store.setStuck("create", true)
			reads, deadline := x.store.count("read"), time.Now().Add(14*sec)
			time.Sleep(6 * sec)
			require.Greater(t, x.store.count("read"), reads+1, "listings go on")
			require.Equal(t, RelayRunning, x.Status().Relay, "so do beats and vouches")
			time.Sleep(time.Until(deadline))
			require.Equal(t, 1, x.guards.stopped(), "and the relay is stopped in time")
			require.NotEqual(t, Leader, x.Status().Role)
		})
	})
}

// What was known before the start is not overtaken by the first tick: else a PC
// would say that it waits for a relay of before when there was none.
func TestDriver_WhatWasPostedBeforeTheStartComesFirst(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var said []Report
			d, err := NewDriver(DriverConfig{
				Machine: testConfig(t, idA), Store: newFakeStore(), Codec: testCodec(t, site, "secret"), Net: &fakeNet{}, Guards: &fakeGuards{},
				Now:    func() time.Duration { return zero },
				Report: func(r Report) { said = append(said, r) },
			})
			require.NoError(t, err)
			d.Post(Eligibility{Reasons: reason.Of(reason.ShareUnchecked)})
			d.Post(TreeClear{})
			time.Sleep(time.Second)
			ctx, cancel := context.WithCancel(t.Context())
			go d.Run(ctx)
			time.Sleep(time.Second)
			cancel()
			d.workers.Wait()
			synctest.Wait()
			require.Equal(t, Report{Reason: reason.Reason{Code: reason.RoleIs, Role: "ineligible"}, Because: reason.Of(reason.ShareUnchecked)}, said[0])
		})
	}
}

func TestDriver_AtMostOneCallPerLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := drive(t)
		x.store.mu.Lock()
		for _, lane := range []string{"read", "create", "publish", "housekeep"} {
			x.store.delay[lane] = 400 * ms
		}
		x.store.mu.Unlock()
		x.Post(TreeClear{})
		x.leadsSlowly(t)
		time.Sleep(5 * time.Minute)
		x.store.mu.Lock()
		defer x.store.mu.Unlock()
		for _, lane := range []string{"read", "create", "publish", "housekeep"} {
			require.Equal(t, 1, x.store.most[lane], lane)
		}
	})
}

// leadsSlowly is leads on a slow share.
func (x *driven) leadsSlowly(t *testing.T) {
	t.Helper()
	e := newRig(t).entry(6, 3, idD, released(idA))
	x.store.mu.Lock()
	x.store.chain[6] = e.Body
	x.store.mu.Unlock()
	time.Sleep(5 * sec)
	require.Equal(t, Leader, x.Status().Role)
}

func TestDriver_CarriesActionsOutInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := drive(t)
		x.leads(t, idB)
		time.Sleep(20 * sec)
		x.guards.mu.Lock()
		defer x.guards.mu.Unlock()
		var seq uint64
		require.IsType(t, StartRelay{}, x.guards.log[0])
		for _, a := range x.guards.log {
			switch a := a.(type) {
			case StartRelay:
				require.Greater(t, a.Seq, seq)
				seq = a.Seq
			case SetUntil:
				require.Greater(t, a.Seq, seq, "deadlines in the order in which they were decided")
				seq = a.Seq
			}
		}
	})
}

// Who sees the relay that is being started and asks whether it is ours must not
// be told of the time before.
func TestDriver_StatusKnowsTheRelayBeforeItStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := drive(t)
		x.leads(t, idB)
		x.guards.mu.Lock()
		defer x.guards.mu.Unlock()
		require.Equal(t, []Phase{RelayStarting}, x.guards.started)
	})
}

func TestDriver_EventsAreTakenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := drive(t)
		for i := range 100 {
			x.Post(Eligibility{Reasons: []reason.Reason{{Code: reason.PortHeld, Port: i}}})
		}
		synctest.Wait()
		require.Equal(t, 99, x.Status().Reasons[0].Port)
	})
}

func TestDriver_PostDropsOnlyWhatTheNetworkMayLose(t *testing.T) {
	// Not running: everything piles up.
	d, err := NewDriver(DriverConfig{Machine: testConfig(t, idA), Codec: testCodec(t, site, "secret"), Now: func() time.Duration { return zero }})
	require.NoError(t, err)
	for range backlog + 500 {
		d.Post(BeatReceived{})
		d.Post(VouchReceived{})
		d.Post(HeadReceived{})
	}
	require.Len(t, d.queue, backlog)
	precious := []Event{
		Created{}, Listed{}, ReadDone{}, Founded{}, Published{}, Housekept{}, GuardAcked{}, RelayReady{}, RelayDown{},
		TreeClear{}, Eligibility{}, Handoff{}, MembersChanged{}, LeaderGone{},
	}
	for _, ev := range precious {
		d.Post(ev)
	}
	require.Equal(t, precious, d.queue[backlog:])
}

func TestDriver_FinishedEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := drive(t)
		x.net.reliable = 200 * ms
		x.leads(t, idB)
		begin := time.Now()
		x.Post(Handoff{Final: true, Reason: "stopping"})
		<-x.done
		require.Less(t, time.Since(begin), 300*ms)
		require.Equal(t, 1, x.guards.stopped())
		x.workers.Wait()
		require.Equal(t, 2, x.net.sentHeads(), "the successor was told, both ways")
	})
}

func TestDriver_ContextEndsRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := drive(t)
		x.leads(t, idB)
		for _, lane := range []string{"read", "create", "publish", "housekeep"} {
			x.store.setStuck(lane, true)
		}
		time.Sleep(5 * sec)
		begin := time.Now()
		x.cancel()
		<-x.done
		require.Zero(t, time.Since(begin), "what is stuck on the share is not waited for")
	})
}

func TestDriver_LooksAtTheClockEveryBeat(t *testing.T) {
	// Timers stop while a host sleeps, boot time does not: the pause is capped.
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		begin := time.Now()
		x := drive(t, func(c *DriverConfig) {
			c.Now = func() time.Duration { return zero + time.Since(begin) + time.Duration(slept.Load()) }
		})
		x.leads(t)
		synctest.Wait()
		slept.Store(int64(time.Minute)) // the host slept: no timer moved
		time.Sleep(x.cfg.Machine.Beat)
		synctest.Wait()
		require.Equal(t, 1, x.guards.stopped())
	})
}

func TestDriver_Pause(t *testing.T) {
	now := zero
	d, err := NewDriver(DriverConfig{Machine: testConfig(t, idA), Codec: testCodec(t, site, "secret"), Now: func() time.Duration { return now }})
	require.NoError(t, err)
	for wake, want := range map[time.Duration]time.Duration{
		never: 500 * ms, zero + sec: 500 * ms, zero + 100*ms: 100 * ms, zero: 0, zero - sec: 0,
	} {
		d.m.wake = wake
		require.Equal(t, want, d.pause(), "%v", wake)
	}
}

func TestDriver_TellsEveryChangeOfStatusOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []Status
		x := drive(t, func(c *DriverConfig) { c.OnStatus = func(s Status) { seen = append(seen, s) } })
		x.leads(t, idB)
		synctest.Wait()
		for i := 1; i < len(seen); i++ {
			require.False(t, sameStatus(seen[i-1], seen[i]), "%+v twice", seen[i])
		}
		require.Equal(t, Leader, seen[len(seen)-1].Role)
	})
}

func TestOutcomeOf(t *testing.T) {
	for want, err := range map[Outcome]error{
		OK: nil, Exists: lease.ErrExists, NotExist: lease.ErrNotExist, NoBody: lease.ErrNoBody,
		Unavailable: lease.ErrUnavailable, Denied: lease.ErrDenied, Uncertain: lease.ErrUnknown,
	} {
		if err != nil {
			err = fmt.Errorf("create record 7: %w", err)
		}
		require.Equal(t, want, outcomeOf(err))
	}
	require.Equal(t, Uncertain, outcomeOf(errors.New("connection reset")), "what is not known for certain")
	require.Equal(t, Uncertain, outcomeOf(errors.Join(lease.ErrUnknown, lease.ErrExists)), "doubt wins")
	require.Equal(t, NoBody, outcomeOf(errors.Join(lease.ErrNoBody, lease.ErrUnavailable)))
}

func TestNewDriver_RefusesUnsafeFigures(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"FENCE below 300ms":    func(c *Config) { c.Fence, c.Beat = 299*ms, 50*ms },
		"FENCE above TTL/3":    func(c *Config) { c.Fence = c.TTL/3 + ms },
		"BEAT above FENCE/5":   func(c *Config) { c.Beat = c.Fence/5 + ms },
		"no BEAT":              func(c *Config) { c.Beat = 0 },
		"TTL below 3s":         func(c *Config) { c.TTL, c.Fence, c.Renew = 3*sec-ms, 900*ms, sec-ms },
		"TTL above TTL_MAX":    func(c *Config) { c.TTL = lease.TTLMax + ms },
		"RENEW above TTL/3":    func(c *Config) { c.Renew = c.TTL/3 + ms },
		"no RENEW":             func(c *Config) { c.Renew = 0 },
		"no POLL":              func(c *Config) { c.Poll = 0 },
		"no node":              func(c *Config) { c.Self.Node = "" },
		"no run":               func(c *Config) { c.Self.Run = "" },
		"nothing to seal with": func(c *Config) { c.Sealer = nil },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t, idA)
			spoil(&cfg)
			_, err := NewDriver(DriverConfig{Machine: cfg})
			require.Error(t, err)
		})
	}
}
