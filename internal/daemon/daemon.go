package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/lanaddr"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/logging"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/internal/words"
	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/relayproc"
)

// grace is how long a planned stop lets the relay end by itself.
const grace = 3 * time.Second

// Options are what a daemon is told besides its configuration.
type Options struct {
	Version string
	Log     *logging.Logger
	// Guard is how to run the hidden guard command of this binary.
	Guard relayproc.Command

	now  func() time.Duration
	wall func() time.Time
	find func(context.Context) (string, error) // this host's address; nil: findAddress
	own  func(addr string) bool                // a card of this host has it; nil: ownAddress
}

// Daemon is one member of a site.
type Daemon struct {
	cfg   config.Config
	opt   Options
	log   *zap.Logger
	self  lease.ID
	state *stateFile
	share lease.Share
	chain *lease.Chain
	codec *sealer

	seen    observer
	found   *discovery
	notes   *notes
	room    *fullness
	tokens  *tokens
	hub     localapi.Hub
	gossip  *gossip.Gossip
	guards  *guards
	surveys *surveys
	clock   leaderClock
	lang    words.Lang // of the log and of the texts of the API
	driver  *arbiter.Driver
	forward *forwarding // nil: FORWARD_PORT is 0
	addr    atomic.Pointer[string]
	clear   atomic.Bool // no relay of an earlier run is left
	// The system kept a port of the relay from every program when last tried.
	reserved atomic.Bool

	damagedRev uint64                 // head last said to be damaged; the driver's only
	twinsSaid  map[reason.Reason]bool // stations said to be used twice; keepTable's only

	table  chan struct{}
	saving chan struct{}

	api      apiAddr
	cleanups []func()
}

// New prepares a daemon: it claims STATE_DIR, joins gossip's port and opens
// API_ADDR if nobody else holds it, but asks nothing of the share. Close undoes it.
func New(cfg config.Config, opt Options) (_ *Daemon, err error) {
	opt.now, opt.wall = clock.Boot, time.Now
	d := &Daemon{cfg: cfg, opt: opt, log: opt.Log.Logger, lang: words.Choose(cfg.LangUI, os.Getenv), table: make(chan struct{}, 1), saving: make(chan struct{}, 1)}
	if opt.find == nil {
		d.opt.find = d.findAddress
	}
	if opt.own == nil {
		d.opt.own = ownAddress
	}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	release, note, err := claimStateDir(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	if note != "" {
		d.log.Warn(note)
	}
	d.cleanup(release)
	if d.self, err = identify(cfg.StateDir); err != nil {
		return nil, err
	}
	if d.state, err = openState(cfg.StateDir); err != nil {
		return nil, err
	}
	if d.state.damaged != "" {
		d.log.Warn("the saved state was damaged and is kept as " + d.state.damaged + ": this PC starts without it; drain it again if it was drained")
	}
	if err := d.openLease(); err != nil {
		return nil, err
	}
	if err := d.openGossip(); err != nil {
		return nil, err
	}
	if err := d.api.open(cfg.APIAddr); err != nil {
		return nil, err
	}
	d.cleanup(d.api.close)
	d.openObserver()
	d.openForward()
	return d, d.openArbiter()
}

// addressRetry is how often a PC without a LAN address looks again.
const addressRetry = 2 * time.Second

// Open is New for a PC that is still booting: while it has no LAN address yet,
// as with the cable out or DHCP late, it waits, and says so.
func Open(ctx context.Context, cfg config.Config, opt Options) (*Daemon, error) {
	for {
		d, err := New(cfg, opt)
		if !errors.Is(err, lanaddr.ErrNoAddress) {
			return d, err
		}
		opt.Log.Warn(fmt.Sprintf("waiting for the network: %v", err))
		if !sleep(ctx, addressRetry) {
			return nil, err
		}
	}
}

func (d *Daemon) cleanup(f func()) { d.cleanups = append(d.cleanups, f) }

// Close undoes New, last things first.
func (d *Daemon) Close() {
	for i := len(d.cleanups) - 1; i >= 0; i-- {
		d.cleanups[i]()
	}
	d.cleanups = nil
}

func (d *Daemon) openLease() (err error) {
	if d.codec, err = newSealer(d.cfg, func() bool { return d.gossip.UsesNewToken() }); err != nil {
		return err
	}
	if d.share, err = OpenShare(d.cfg.LeaseDir, string(d.cfg.SMBPassword)); err != nil {
		return err
	}
	d.chain = lease.NewChain(d.share)
	d.surveys = newSurveys(func() (lease.Share, error) { return OpenShare(d.cfg.LeaseDir, string(d.cfg.SMBPassword)) })
	return nil
}

func (d *Daemon) openGossip() error {
	d.found = &discovery{fixed: d.cfg.GossipPeers, dir: d.cfg.StateDir, wake: make(chan struct{}, 1)}
	remembered, aside := d.found.remembered()
	addr, err := d.opt.find(context.Background())
	if err != nil {
		return err
	}
	d.addr.Store(&addr)
	if aside != "" {
		d.log.Warn("the members of the last run cannot be read; the file is kept as " + aside + ": this PC finds the others anew")
	}
	d.gossip, err = gossip.New(gossip.Config{
		Self: d.self, KMSN: d.cfg.KMSN, Token: string(d.cfg.Token), OldToken: string(d.cfg.OldToken),
		BindAddr: d.cfg.GossipBind, AdvertiseAddr: addr, Port: d.cfg.GossipPort,
		Meta:  d.meta(arbiter.Status{Role: arbiter.Ineligible, Reasons: reason.Of(reason.Starting)}),
		Peers: d.found.candidates, Race: d.surveys.asked, Remembered: remembered, Log: d.log.Named("gossip"),
	}, &ears{codec: d.codec.Codec, post: func(ev arbiter.Event) { d.post(ev) }, table: d.tableChanged})
	if err != nil {
		return err
	}
	d.cleanup(func() { _ = d.gossip.Close() })
	return nil
}

func (d *Daemon) address() string { return *d.addr.Load() }

func (d *Daemon) openArbiter() (err error) {
	s := d.state.get()
	d.notes = &notes{post: d.post}
	d.guards = &guards{
		ctx: context.Background(), cmd: d.opt.Guard, spec: d.relaySpec, post: d.post, say: d.tell,
		will: func(a arbiter.SetWill) []byte { return newTestament(d.cfg, d.codec.signsOld(), a) },
	}
	d.tokens = &tokens{own: d.cfg.TokenPrint(), old: d.cfg.OldTokenPrint(), found: d.found, say: d.tell}
	d.room = &fullness{Store: d.seen.metrics.Store(d.chain), share: d.share.String(), say: d.tell}
	d.driver, err = arbiter.NewDriver(arbiter.DriverConfig{
		Machine: arbiter.Config{
			Self: d.self, Boot: bootID(d.cfg.StateDir), KMSN: d.cfg.KMSN, Station: d.cfg.Station,
			IP: d.address(), Port: d.cfg.RelayPort, PID: os.Getpid(),
			Priority: d.cfg.RelayPriority, Preempt: d.cfg.RelayPreempt,
			TTL: d.cfg.LeaseTTL, Renew: d.cfg.LeaseRenew, Poll: d.cfg.LeasePoll,
			Fence: d.cfg.LeaseFence, Beat: d.cfg.LeaseBeat, Grace: grace,
			FloorRev: s.Rev, FloorEpoch: s.Epoch,
			Seed: seedOf(d.self), Sealer: d.codec, NewShare: uuid.NewString,
		},
		Store: d.room, Codec: d.codec, Net: d.seen.metrics.Net(d.gossip), Guards: d.guards,
		Now: d.opt.now, Report: func(r arbiter.Report) { d.tell(r.Warn, r.Reason, d.room.replace(r.Because)...) }, OnStatus: d.statusChanged,
	})
	if err != nil {
		return err
	}
	// What is known to stand in the way must be told before the first look at
	// the share: a lease given back there could be taken at once.
	d.notes.set("share", reason.Of(reason.ShareUnchecked)...)
	d.seeTree(relayproc.ProbeLock(d.lockPath()))
	d.notes.set("drained", drainNote(s.Drained)...)
	d.notes.set("address", addressNote(d.address(), d.opt.own(d.address()), nil)...)
	d.notes.set("program", checkRelayExe(d.cfg.RelayExe)...)
	return nil
}

// seedOf makes the arbiter's random delays differ between runs.
func seedOf(id lease.ID) uint64 {
	n, _ := strconv.ParseUint(id.Run, 16, 64)
	return n
}

// post hands an event to the arbiter once there is one.
func (d *Daemon) post(ev arbiter.Event) {
	if d.driver != nil {
		d.seen.metrics.Event(ev)
		d.driver.Post(ev)
	}
}

func (d *Daemon) relaySpec(epoch uint64) relayproc.Spec {
	out := d.opt.Log.NewOutput(zap.String("from", "relay"))
	return relayproc.Spec{
		Exe: d.cfg.RelayExe, Args: d.cfg.RelayArgs,
		Env: []string{
			"RELAY_PORT=" + strconv.Itoa(d.cfg.RelayPort), "KMSN=" + d.cfg.KMSN,
			"STATION=" + d.cfg.Station, "RELAY_EPOCH=" + strconv.FormatUint(epoch, 10),
		},
		Secrets: []string{string(d.cfg.Token), string(d.cfg.OldToken), string(d.cfg.SMBPassword)},
		Addr:    d.address(), Port: d.cfg.RelayPort,
		StartTimeout: d.cfg.RelayStartTimeout, Ping: d.cfg.RelayPing,
		KMSN: d.cfg.KMSN, Station: d.cfg.Station,
		KillMargin: arbiter.KillMargin(d.cfg.LeaseFence),
		LockPath:   d.lockPath(), Output: out.Line,
	}
}

func (d *Daemon) lockPath() string { return filepath.Join(d.cfg.StateDir, "guard.lock") }

// Run is the daemon's life: it returns when ctx has ended and the lease, if
// held, was handed over, or when that took longer than stopPatience.
func (d *Daemon) Run(ctx context.Context) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var side sync.WaitGroup
	for _, f := range []func(context.Context){
		d.serveAPI, d.clearTree, d.keepTable, d.keepFiles, d.keepState, d.followAddress, d.watchRelayProgram, d.keepHistory, d.watchExclusive, d.watchTokens, d.forwardPrograms,
	} {
		side.Go(func() { f(work) })
	}
	d.log.Info("floatrelay starts", zap.String("version", d.opt.Version), zap.String("station", d.cfg.Station),
		zap.String("kmsn", d.cfg.KMSN), zap.String("config", d.cfg.Path), zap.String("node", d.self.String()), zap.String("address", d.address()),
		zap.Int("gossip_port", d.gossip.Port()), zap.String("share", d.share.String()), zap.String("token", d.cfg.TokenPrint()))
	go func() {
		<-ctx.Done()
		d.driver.Post(arbiter.Handoff{Reason: "stop", Final: true})
	}()
	patience, cancel := withPatience(work, ctx, stopPatience)
	defer cancel()
	d.driver.Run(patience)
	late := patience.Err() != nil
	stop()
	d.saveNow()
	waitFor(&side, time.Second)
	_ = d.gossip.Leave(500 * time.Millisecond)
	if late {
		return errors.New("stopped without handing the lease over: the share did not answer in time; the guard ends the relay")
	}
	d.log.Info("floatrelay ends")
	return nil
}

// stopPatience bounds a graceful end: the relay's grace, and a share that does
// not answer.
const stopPatience = 8 * time.Second

// withPatience returns a context that ends patience after ctx does.
func withPatience(parent, ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(parent)
	go func() {
		select {
		case <-ctx.Done():
		case <-out.Done():
			return
		}
		if sleep(out, patience) {
			cancel()
		}
	}()
	return out, cancel
}

func waitFor(wg *sync.WaitGroup, patience time.Duration) {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience): // something is stuck on the share; the process ends anyway
	}
}

// checkRelayExe returns why RELAY_EXE cannot be run, or nothing.
func checkRelayExe(path string) []reason.Reason {
	if path == "" {
		return reason.Of(reason.RelayExeUnset)
	}
	st, err := os.Stat(path)
	if err != nil || st.IsDir() {
		return []reason.Reason{{Code: reason.RelayExeMissing, Path: path}}
	}
	if why := relayproc.NotExecutable(st); why != "" {
		return []reason.Reason{{Code: reason.RelayExeUnfit, Path: path, Detail: why}}
	}
	return nil
}
