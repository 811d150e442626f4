package standin

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Software is what the stand-in calls itself in its hello.
const Software = "floatrelay stand-in relay"

// LogEnv names the environment variable with the path of the life log.
const LogEnv = "FLOATRELAY_STANDIN_LOG"

// The shapes of the process tree that owns the ports.
const (
	ShapeSingle = "single" // one process
	ShapeFork   = "fork"   // a parent that waits for the listener, like a onefile boot loader
	ShapeDouble = "double" // the listener's parent is gone, the first process lives on
)

// Config is what a stand-in does. The zero value of every misbehaviour is to
// behave.
type Config struct {
	Addr    string // address to listen on
	Port    int    // RELAY_PORT; RELAY_PORT+1 is taken as well
	KMSN    string // the only site served; empty serves any
	Station string // station the relay runs on, told in the hello
	Epoch   uint64 // RELAY_EPOCH, told in the hello
	LifeLog string // path of the life log; empty writes none

	Shape      string        // one of the shapes
	Delay      time.Duration // wait this long before listening
	IgnoreTerm bool          // go on after SIGTERM or Ctrl-Break
	ExitAfter  time.Duration // end by itself after this long; zero never
	Linger     time.Duration // live on this long with closed ports after being asked to end
	ExitCode   int           // code of that end
	Flood      int           // bytes without newline printed to both outputs first
	Noise      string        // "binary" or "cp950": print such bytes first
	Mute       bool          // accept, read, never answer
	Deaf       bool          // listen, never accept
	NoReuse    bool          // listen without SO_REUSEADDR
	Share      bool          // listen with SO_REUSEPORT, so that a second relay may listen too
	Orphan     bool          // leave a sleeping child behind that holds the outputs, and exit 1

	Twin     bool          // start a second tree of this relay beside it, without its ports
	Session  bool          // with ShapeDouble: the listener leaves session and process group
	Restless time.Duration // for so long a child starts another and ends, again and again

	role string // part played in the tree: "" for its first process, "twin" for a second tree's
	tree string // common to all processes of the tree
}

// parse reads the arguments and the environment the relay contract gives.
func parse(args []string, env func(string) string, errw io.Writer) (Config, error) {
	c := Config{}
	fs := flag.NewFlagSet("standin", flag.ContinueOnError)
	fs.SetOutput(errw)
	fs.StringVar(&c.Addr, "listen", "127.0.0.1", "address to listen on")
	fs.StringVar(&c.Shape, "shape", ShapeSingle, "process tree: single, fork or double")
	fs.DurationVar(&c.Delay, "delay", 0, "wait before listening")
	fs.BoolVar(&c.IgnoreTerm, "ignore-term", false, "go on when asked to end")
	fs.DurationVar(&c.ExitAfter, "exit-after", 0, "end by itself after this long")
	fs.DurationVar(&c.Linger, "linger", 0, "live on this long after the ports are closed")
	fs.IntVar(&c.ExitCode, "exit-code", 0, "exit code of that end")
	fs.IntVar(&c.Flood, "flood", 0, "bytes to print without a newline")
	fs.StringVar(&c.Noise, "noise", "", "print odd bytes first: binary or cp950")
	fs.BoolVar(&c.Mute, "mute", false, "accept but never answer")
	fs.BoolVar(&c.Deaf, "deaf", false, "listen but never accept")
	fs.BoolVar(&c.NoReuse, "no-reuse", false, "listen without SO_REUSEADDR")
	fs.BoolVar(&c.Share, "share-port", false, "listen with SO_REUSEPORT")
	fs.BoolVar(&c.Orphan, "orphan", false, "leave a child that holds the outputs and exit 1")
	fs.BoolVar(&c.Twin, "twin", false, "start a second tree beside this one, without its ports")
	fs.BoolVar(&c.Session, "own-session", false, "the listener of a double leaves session and group")
	fs.DurationVar(&c.Restless, "restless", 0, "have a child for so long that starts another and ends")
	fs.StringVar(&c.role, "role", "", "part in the process tree (internal)")
	if err := fs.Parse(args); err != nil {
		return Config{}, err
	}
	return c.withEnv(env)
}

func (c Config) withEnv(env func(string) string) (Config, error) {
	port, err := strconv.Atoi(env("RELAY_PORT"))
	if err != nil || port < 1 || port > 65534 {
		return Config{}, fmt.Errorf("read RELAY_PORT %q: want a number from 1 to 65534", env("RELAY_PORT"))
	}
	c.Port, c.KMSN, c.Station = port, env("KMSN"), env("STATION")
	c.LifeLog = env(LogEnv)
	if c.tree = env(treeEnv); c.role == "" || c.role == "twin" || c.tree == "" {
		c.tree = rand.Text()
	}
	if e := env("RELAY_EPOCH"); e != "" {
		if c.Epoch, err = strconv.ParseUint(e, 10, 64); err != nil {
			return Config{}, fmt.Errorf("read RELAY_EPOCH %q: want a whole number", e)
		}
	}
	switch c.Shape {
	case "", ShapeSingle, ShapeFork, ShapeDouble:
		return c, nil
	}
	return Config{}, errors.New("read -shape: want single, fork or double, not " + strconv.Quote(c.Shape))
}
