package sitetest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// exe is the program under test, built once. It is the stand-in relay too.
var exe string

// sites is how many run at once at least: a site waits nearly all the time.
const sites = 12

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if testing.Short() {
		fmt.Println("sites are real processes: left to the full run")
		return 0
	}
	// Sites mostly wait, so that more of them run at once than there are cores;
	// not many more, because a late daemon is a fault of its own.
	if runtime.GOMAXPROCS(0) < sites {
		if err := flag.Set("test.parallel", strconv.Itoa(sites)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	dir, err := os.MkdirTemp("", "floatrelay-site-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	exe = filepath.Join(dir, "floatrelay")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	build := exec.Command("go", "build", "-o", exe, "github.com/convertfw/floatrelay/cmd/floatrelay")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program under test:", err)
		return 1
	}
	return m.Run()
}
