package relayproc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes processes whose parent died children of this one.
func adoptOrphans() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// killPlain kills everything below this process, the holder last: while it
// lives, orphans go to it and stay below us. One pass may miss a process that
// is being forked; the caller repeats it until none is left.
func killPlain(cg *cgroup, holder int) {
	cg.kill()
	below := descendants(os.Getpid())[1:]
	for _, pid := range below {
		if pid != holder {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	if holder != 0 {
		unix.Kill(holder, unix.SIGKILL)
	}
}

// cgroup is a control group of the relay's own, where this process may make
// one; nil where it may not. Its kill is atomic, forks included.
type cgroup struct {
	path string
	dir  *os.File
}

func newCgroup() *cgroup {
	base := ownCgroup()
	if base == "" {
		return nil
	}
	clearStale(base)
	path := filepath.Join(base, cgroupPrefix+strconv.Itoa(os.Getpid()))
	if os.Mkdir(path, 0o755) != nil {
		return nil
	}
	dir, err := os.Open(path)
	if err == nil {
		_, err = os.Stat(filepath.Join(path, "cgroup.kill")) // Linux 5.14
	}
	if err != nil {
		os.Remove(path)
		return nil
	}
	return &cgroup{path, dir}
}

const cgroupPrefix = "floatrelay-"

// clearStale ends the groups of guards that were killed: whatever still lives
// in one is an orphan, and an empty folder stays for ever.
func clearStale(base string) {
	names, _ := filepath.Glob(filepath.Join(base, cgroupPrefix+"*"))
	for _, path := range names {
		pid, err := strconv.Atoi(filepath.Base(path)[len(cgroupPrefix):])
		if err != nil {
			continue
		}
		if _, alive := lookup(pid); !alive {
			_ = os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0)
			os.Remove(path)
		}
	}
}

// ownCgroup is the folder of this process's group in the version 2 hierarchy.
func ownCgroup() string {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	groups, _ := os.ReadFile("/proc/self/cgroup")
	var root, own string
	for line := range strings.Lines(string(mounts)) {
		if before, after, ok := strings.Cut(line, " - "); ok && strings.HasPrefix(after, "cgroup2 ") {
			if f := strings.Fields(before); len(f) > 4 {
				root = f[4]
			}
		}
	}
	for line := range strings.Lines(string(groups)) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			own = p
		}
	}
	if root == "" || own == "" {
		return ""
	}
	return filepath.Join(root, own)
}

// into has a process start inside the group.
func (c *cgroup) into(sys *syscall.SysProcAttr) {
	if c != nil {
		sys.UseCgroupFD, sys.CgroupFD = true, int(c.dir.Fd())
	}
}

func (c *cgroup) kill() {
	if c != nil {
		_ = os.WriteFile(filepath.Join(c.path, "cgroup.kill"), []byte("1"), 0)
	}
}

func (c *cgroup) remove() {
	if c != nil {
		c.dir.Close()
		os.Remove(c.path)
	}
}
