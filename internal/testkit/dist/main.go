// Command dist builds the release archives: for every system one zip or tarball
// with the program, a stk.ini to fill in, the scripts and the documents, and a
// file of checksums.
//
// The same commit, Go and version give the same bytes: paths are trimmed, times
// are the commit's (or SOURCE_DATE_EPOCH), names are sorted. Which Go that is
// stands in go.mod; another one is refused, unless -any-toolchain says that only
// the making of archives is tried.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// target is one system of a release.
type target struct{ os, arch string }

var targets = []target{{"windows", "amd64"}, {"windows", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}}

func (t target) String() string { return t.os + "/" + t.arch }

func main() {
	version := flag.String("version", "devel", "version stamped into the program and the names")
	out := flag.String("out", "dist", "folder for the archives")
	only := flag.String("only", "", "build one system only, such as linux/amd64")
	anyGo := flag.Bool("any-toolchain", false, "build with whatever Go this machine has: not for a release")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := checkToolchain(ctx, *anyGo); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
	if err := run(ctx, *version, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// run builds everything in a scratch folder first, so that out never holds half
// a release.
func run(ctx context.Context, version, out, only string) error {
	if strings.ContainsAny(version, "/\\ \"'") || version == "" {
		return fmt.Errorf("version %q cannot be a part of a file's name", version)
	}
	when, err := timestamp(ctx)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "floatrelay-dist-")
	if err != nil {
		return fmt.Errorf("make a scratch folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make the folder for the archives: %w", err)
	}
	var made []string
	for _, t := range targets {
		if only != "" && only != t.String() {
			continue
		}
		name, err := release(ctx, t, version, work, out, when)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		made = append(made, name)
	}
	if len(made) == 0 {
		return fmt.Errorf("no system is called %s", only)
	}
	return writeSums(out, made)
}

// release builds one archive and returns its name.
func release(ctx context.Context, t target, version, work, out string, when time.Time) (string, error) {
	bin, err := build(ctx, t, version, work)
	if err != nil {
		return "", err
	}
	folder := "floatrelay-" + version + "-" + t.os + "-" + t.arch
	files, err := collect(t, bin)
	if err != nil {
		return "", err
	}
	name, pack := folder+".tar.gz", packTar
	if t.os == "windows" {
		name, pack = folder+".zip", packZip
	}
	f, err := os.Create(filepath.Join(out, name))
	if err != nil {
		return "", fmt.Errorf("make the archive: %w", err)
	}
	err = pack(f, folder, files, when)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", fmt.Errorf("write %s: %w", name, err)
	}
	return name, nil
}

// build compiles the program with nothing of this machine in it.
func build(ctx context.Context, t target, version, work string) (string, error) {
	bin := filepath.Join(work, t.os+"-"+t.arch)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+version, "-o", bin, "./cmd/floatrelay")
	cmd.Env = append(os.Environ(), "GOOS="+t.os, "GOARCH="+t.arch, "CGO_ENABLED=0",
		"GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build the program: %w", err)
	}
	return bin, nil
}

// timestamp is the time all files get.
func timestamp(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.CommandContext(ctx, "git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("ask git for the commit's time (SOURCE_DATE_EPOCH replaces it): %w", err)
		}
		text = strings.TrimSpace(string(out))
	}
	sec, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time %q: %w", text, err)
	}
	return time.Unix(sec, 0).UTC(), nil
}
