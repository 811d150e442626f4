package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// checkToolchain returns an error if the go command is not the one that go.mod
// names. With anyGo it says so instead, in the words that a run repeats at its end.
func checkToolchain(ctx context.Context, anyGo bool) error {
	mod, err := exec.CommandContext(ctx, "go", "mod", "edit", "-json").Output()
	if err != nil {
		return fmt.Errorf("read go.mod: %w", err)
	}
	version, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	if err != nil {
		return fmt.Errorf("ask go for its version: %w", err)
	}
	err = sameToolchain(mod, strings.TrimSpace(string(version)))
	if err != nil && anyGo {
		fmt.Fprintln(os.Stderr, "NOT SHOWN: release archives with the pinned toolchain; this machine has another")
		return nil
	}
	return err
}

// sameToolchain compares go.mod, as "go mod edit -json" prints it, with a version
// such as "go1.26.8".
func sameToolchain(mod []byte, version string) error {
	var m struct{ Toolchain string }
	if err := json.Unmarshal(mod, &m); err != nil {
		return fmt.Errorf("read go.mod: %w", err)
	}
	switch {
	case m.Toolchain == "":
		return fmt.Errorf("go.mod names no toolchain: add a line such as \"toolchain %s\"", version)
	case m.Toolchain != version:
		return fmt.Errorf("go.mod names %s, and this go is %s: install that one, or set GOTOOLCHAIN=%s",
			m.Toolchain, version, m.Toolchain)
	}
	return nil
}
