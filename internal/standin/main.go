package standin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Main runs the hidden command `standin`: args are what follows the word, env
// looks a variable up (os.Getenv). It returns the exit code: 0 after it was
// asked to end, ExitCode after ExitAfter, 1 when a port cannot be had, 2 for
// bad arguments.
func Main(args []string, env func(string) string) int {
	cfg, err := parse(args, env, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		return 2
	}
	ctx, cancel := askedToEnd(cfg)
	defer cancel()
	if cfg.Twin && cfg.role == "" {
		if err := startSelf(cfg, []string{"-role", "twin"}, nil); err != nil {
			return fail(err)
		}
	}
	if cfg.role != "" || cfg.Shape == ShapeFork || cfg.Shape == ShapeDouble {
		return runTree(ctx, cfg, args)
	}
	return run(ctx, cfg)
}

// askedToEnd returns a context that ends with SIGTERM or Ctrl-Break, unless
// the stand-in ignores them.
func askedToEnd(cfg Config) (context.Context, context.CancelFunc) {
	if !cfg.IgnoreTerm {
		return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return context.WithCancel(context.Background())
}

// run is the single process: the one that owns the ports.
func run(ctx context.Context, cfg Config) int {
	fmt.Printf("%s: station %s epoch %d on %s:%d\n", Software, cfg.Station, cfg.Epoch, cfg.Addr, cfg.Port)
	makeNoise(cfg)
	if cfg.Orphan {
		return leaveOrphan()
	}
	if cfg.Restless > 0 {
		if err := startRestless(cfg); err != nil {
			return fail(err)
		}
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	if cfg.ExitAfter > 0 {
		time.AfterFunc(cfg.ExitAfter, cancel)
	}
	if err := Serve(inner, cfg); err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		return 1
	}
	if ctx.Err() == nil {
		return cfg.ExitCode
	}
	return 0
}

// makeNoise prints what a careless program prints.
func makeNoise(cfg Config) {
	if cfg.Flood > 0 {
		blob := []byte(strings.Repeat("x", cfg.Flood))
		_, _ = os.Stdout.Write(blob)
		_, _ = os.Stderr.Write(blob)
	}
	switch cfg.Noise {
	case "cp950":
		_, _ = os.Stdout.Write([]byte("\xB3\x5C\xA5\x5C\xBB\x5C relay\r\n"))
	case "binary":
		blob := make([]byte, 4096)
		for i := range blob {
			blob[i] = byte(i * 7)
		}
		_, _ = os.Stdout.Write(append(blob, '\n'))
	}
}

// leaveOrphan starts a child that sleeps with our outputs open, and fails.
func leaveOrphan() int {
	cmd, err := self("-role", "sleeper")
	if err == nil {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin: start sleeper:", err)
	}
	return 1
}

// self prepares this executable's hidden command again.
func self(args ...string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own executable: %w", err)
	}
	return exec.Command(exe, append([]string{"standin"}, args...)...), nil
}
