package relayproc

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// The hidden commands of the binary. GuardArg's body is RunGuard, InitArg's is
// RunInit; InitArg is used on Linux only.
const (
	GuardArg = "guard"
	InitArg  = "guard-init"
)

// The ways to ask a relay whether it is well.
const (
	PingTCP   = "tcp"   // it accepts a connection
	PingHello = "hello" // it answers the stand-in relay's hello
)

// Command is how to run the guard, normally this executable and GuardArg.
type Command struct {
	Path string
	Args []string
}

// Spec says what to run and how to look after it.
type Spec struct {
	Exe  string   // RELAY_EXE: absolute path of the program, or .bat on Windows
	Args []string // RELAY_ARGS
	Dir  string   // working directory; empty means the folder of Exe
	// Env is added to a cleaned copy of the daemon's environment: RELAY_PORT,
	// KMSN, STATION and RELAY_EPOCH.
	Env []string

	// Secrets are values that no variable handed on may hold, whatever its name.
	Secrets []string `json:"-"`

	Addr string // lease address the relay must be reachable at
	Port int    // RELAY_PORT; RELAY_PORT+1 is the relay's as well

	StartTimeout time.Duration // RELAY_START_TIMEOUT; zero means 60 s
	Ping         string        // PingTCP or PingHello; empty means PingTCP
	PingEvery    time.Duration // pause between pings of a ready relay; zero means 1 s
	KMSN         string        // told in the hello of a ping
	Station      string

	KillMargin time.Duration // within which the tree must be dead; zero means 200 ms
	LockPath   string        // STATE_DIR/guard.lock; relay.json is written beside it

	// Output gets the relay's output line by line, valid UTF-8, without line
	// ends; nil discards it. It must not block for long.
	Output func(line string) `json:"-"`

	plain bool // tests: no namespace even where permitted
}

// ErrSpec is wrapped by every complaint about a Spec.
var ErrSpec = errors.New("relay cannot be described")

func (s Spec) withDefaults() Spec {
	if s.StartTimeout <= 0 {
		s.StartTimeout = 60 * time.Second
	}
	if s.PingEvery <= 0 {
		s.PingEvery = time.Second
	}
	if s.KillMargin <= 0 {
		s.KillMargin = 200 * time.Millisecond
	}
	if s.Ping == "" {
		s.Ping = PingTCP
	}
	if s.Dir == "" {
		s.Dir = filepath.Dir(s.Exe)
	}
	return s
}

func (s Spec) validate() error {
	switch {
	case s.Exe == "":
		return fmt.Errorf("%w: RELAY_EXE is empty", ErrSpec)
	case !filepath.IsAbs(s.Exe):
		return fmt.Errorf("%w: RELAY_EXE %q is not an absolute path", ErrSpec, s.Exe)
	case s.Port < 1 || s.Port > 65534:
		return fmt.Errorf("%w: RELAY_PORT %d is outside 1 to 65534", ErrSpec, s.Port)
	case s.LockPath == "":
		return fmt.Errorf("%w: no path for guard.lock", ErrSpec)
	case s.Ping != PingTCP && s.Ping != PingHello:
		return fmt.Errorf("%w: RELAY_PING %q is neither tcp nor hello", ErrSpec, s.Ping)
	}
	return nil
}

func (s Spec) ports() []int { return []int{s.Port, s.Port + 1} }

// Cause says why a relay tree is dead.
type Cause uint8

// The causes, in the order of the arbiter's.
const (
	Stopped   Cause = iota // asked for
	Deadline               // killed at its deadline, by the guard or by the daemon
	Exited                 // ended by itself, whatever its exit code
	NotReady               // not ready within StartTimeout, or stopped answering
	Failed                 // could not be started at all
	GuardLost              // the guard died or froze; its last will may be under way
)

// String returns the cause's lower-case name.
func (c Cause) String() string {
	return [...]string{"stopped", "deadline", "exited", "unready", "failed", "guard-lost"}[c]
}

// Event is what Start reports.
type Event interface{ isEvent() }

type (
	// Started says that the relay's first process runs.
	Started struct{ PID int }
	// Acked says that the guard applied the deadline sent as Seq. Deadlines
	// sent in a burst may be acknowledged by the newest alone.
	Acked struct{ Seq uint64 }
	// Ready says that the relay accepts connections, and that the listener
	// belongs to its tree. PID is the listener's.
	Ready struct{ PID int }
	// Unready says that a relay does not answer and is being killed; Down
	// follows.
	Unready struct{ Note string }
	// Waiting says that the relay cannot start yet, for people: a port in
	// TIME_WAIT, a lock still held.
	Waiting struct{ Note string }
	// Down is the last event: the whole tree is dead and both ports are closed.
	Down struct {
		Cause Cause
		Note  string // for people: exit code, who holds the port, how the guard was lost
	}
)

func (Started) isEvent() {}
func (Acked) isEvent()   {}
func (Ready) isEvent()   {}
func (Unready) isEvent() {}
func (Waiting) isEvent() {}
func (Down) isEvent()    {}

// The exit codes of the guard. Only for people and for the daemon that started
// it; the tree is dead whichever it is.
const (
	CodeStopped  = 0  // stopped or killed on request
	CodeSpec     = 2  // bad first line, or none
	CodeDeadline = 10 // the deadline passed
	CodeOrphaned = 11 // the daemon is gone, the last will was carried out or there was none
	CodeWill     = 12 // the daemon is gone and the last will failed
	CodeExited   = 13 // the relay ended by itself
	CodeFailed   = 14 // the relay could not be started
)

// wireSpec is the first line on the guard's stdin.
type wireSpec struct {
	Exe        string        `json:"exe"`
	Args       []string      `json:"args"`
	Dir        string        `json:"dir"`
	Env        []string      `json:"env"`
	Addr       string        `json:"addr"`
	Port       int           `json:"port"`
	KillMargin time.Duration `json:"kill_margin_ns"`
	LockPath   string        `json:"lock"`
	Mark       string        `json:"mark"`            // NAME=value, for a tree without namespace
	Plain      bool          `json:"plain,omitempty"` // no namespace even where permitted (tests)
}

func (w wireSpec) ports() []int { return []int{w.Port, w.Port + 1} }

func (s Spec) wire(env []string) wireSpec {
	return wireSpec{
		Exe: s.Exe, Args: s.Args, Dir: s.Dir, Env: env, Addr: s.Addr, Port: s.Port,
		KillMargin: s.KillMargin, LockPath: s.LockPath, Plain: s.plain,
		Mark: "FLOATRELAY_TREE=" + rand.Text(),
	}
}
