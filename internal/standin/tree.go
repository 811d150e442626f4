package standin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// hopTime is about what one restless process takes.
const hopTime = 5 * time.Millisecond

// sleeperLife bounds a sleeper nobody kills.
const sleeperLife = 10 * time.Minute

// runTree plays one part of a tree of several processes. The listener is the
// single process again, under another parent.
func runTree(ctx context.Context, cfg Config, args []string) int {
	switch cfg.role {
	case "sleeper":
		sleep(ctx, sleeperLife)
		return 0
	case "listener":
		return run(ctx, cfg)
	case "twin":
		return lifeOnly(ctx, cfg)
	case "restless":
		return hop(cfg)
	case "middle":
		if err := startSelf(cfg, append(args, "-role", "listener"), nil); err != nil {
			return fail(err)
		}
		return 0
	}
	life, err := openLife(cfg)
	if err != nil {
		return fail(err)
	}
	defer life.close()
	if cfg.Shape == ShapeDouble {
		return holdDouble(ctx, cfg, args)
	}
	return waitFork(ctx, cfg, args)
}

// lifeOnly is a relay by its life log only: what a second tree looks like to
// whoever judges overlaps.
func lifeOnly(ctx context.Context, cfg Config) int {
	life, err := openLife(cfg)
	if err != nil {
		return fail(err)
	}
	defer life.close()
	sleep(ctx, sleeperLife)
	return 0
}

// waitFork waits for the listener as a onefile boot loader does, and ends with
// its exit code.
func waitFork(ctx context.Context, cfg Config, args []string) int {
	code := make(chan int, 1)
	wait := func(cmd *exec.Cmd) { go func() { code <- exitCode(cmd.Wait()) }() }
	if err := startSelf(cfg, append(args, "-role", "listener"), wait); err != nil {
		return fail(err)
	}
	select {
	case c := <-code:
		return c
	case <-ctx.Done():
		return 0
	}
}

// holdDouble leaves a listener behind whose parent is gone, and lives on.
func holdDouble(ctx context.Context, cfg Config, args []string) int {
	failed := make(chan error, 1)
	wait := func(cmd *exec.Cmd) { failed <- cmd.Wait() }
	if err := startSelf(cfg, append(args, "-role", "middle"), wait); err != nil {
		return fail(err)
	}
	if err := <-failed; err != nil {
		return fail(err)
	}
	<-ctx.Done()
	return 0
}

// hop starts the next of a row of restless processes, each of which ends at
// once: whoever lists processes and then kills them finds it gone.
func hop(cfg Config) int {
	if cfg.Restless -= hopTime; cfg.Restless <= 0 {
		return 0
	}
	if err := startRestless(cfg); err != nil {
		return fail(err)
	}
	return 0
}

func startRestless(cfg Config) error {
	return startSelf(cfg, []string{"-own-session", "-restless", cfg.Restless.String(), "-role", "restless"}, nil)
}

func startSelf(cfg Config, args []string, started func(*exec.Cmd)) error {
	cmd, err := self(args...)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), treeEnv+"="+cfg.tree)
	if cfg.Session {
		leaveSession(cmd)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", args[len(args)-1], err)
	}
	if started != nil {
		started(cmd)
	}
	return nil
}

func exitCode(err error) int {
	var ee *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ee):
		return ee.ExitCode()
	}
	return 1
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "standin:", err)
	return 1
}
