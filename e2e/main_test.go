//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

var (
	runs  = flag.Int("e2e.runs", 1, "runs of each scenario")
	exe   = flag.String("e2e.exe", "", "the floatrelay binary; empty builds it")
	out   = flag.String("e2e.out", "", "file for the table, besides the output")
	logs  = flag.Bool("e2e.logs", false, "show the logs of every run")
	total = flag.Duration("e2e.total", 22*time.Minute, "hard bound of everything together")
)

// sites is how many run at once at least.
const sites = 4

func TestMain(m *testing.M) {
	flag.Parse()
	for _, tool := range []string{"ip", "nft", "smbd", "smbpasswd"} {
		if _, err := exec.LookPath(tool); err != nil || os.Geteuid() != 0 {
			fmt.Fprintln(os.Stderr, "e2e: needs root and the packages that .ci/packages e2e installs; looked for", tool)
			os.Exit(1)
		}
	}
	sweep()
	// Sites mostly wait, so that more of them run at once than there are cores.
	if runtime.GOMAXPROCS(0) < sites {
		if err := flag.Set("test.parallel", strconv.Itoa(sites)); err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "floatrelay-e2e-")
	if err != nil {
		panic(err)
	}
	bound := time.AfterFunc(*total, func() {
		removeAll(ownPrefix())
		fmt.Fprintf(os.Stderr, "e2e: not finished within %v; namespaces removed\n", *total)
		os.Exit(1)
	})
	code := 1
	if err := build(dir); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
	} else {
		code = m.Run()
	}
	bound.Stop()
	removeAll(ownPrefix())
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func build(dir string) error {
	if *exe != "" {
		return nil
	}
	*exe = filepath.Join(dir, "floatrelay")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", *exe, "../cmd/floatrelay")
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build floatrelay: %w\n%s", err, b)
	}
	return nil
}
