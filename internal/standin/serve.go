package standin

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// Serve runs the listener part in this process until ctx ends. It returns an
// error when a port cannot be had, and nil after ctx ended.
func Serve(ctx context.Context, cfg Config) error {
	life, err := openLife(cfg)
	if err != nil {
		return err
	}
	defer life.close()
	if !sleep(ctx, cfg.Delay) {
		return nil
	}
	lns, err := listenBoth(ctx, cfg)
	if err != nil {
		return err
	}
	life.line("listen")
	if cfg.Deaf {
		<-ctx.Done()
		closeAll(lns)
		return nil
	}
	var wg sync.WaitGroup
	for _, ln := range lns {
		wg.Go(func() { newHub(cfg, hostPID()).run(ln) })
	}
	<-ctx.Done()
	closeAll(lns)
	wg.Wait()
	sleep(context.WithoutCancel(ctx), cfg.Linger)
	return nil
}

func listenBoth(ctx context.Context, cfg Config) ([]net.Listener, error) {
	lc := net.ListenConfig{Control: cfg.setReuse}
	var lns []net.Listener
	for _, port := range []int{cfg.Port, cfg.Port + 1} {
		ln, err := lc.Listen(ctx, "tcp", net.JoinHostPort(cfg.Addr, strconv.Itoa(port)))
		if err != nil {
			closeAll(lns)
			return nil, fmt.Errorf("listen on port %d: %w", port, err)
		}
		lns = append(lns, ln)
	}
	return lns, nil
}

func closeAll(lns []net.Listener) {
	for _, ln := range lns {
		ln.Close()
	}
}

// sleep waits for d and reports whether ctx is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
