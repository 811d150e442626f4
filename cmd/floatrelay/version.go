package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is stamped by the release build: -ldflags "-X main.version=v1.2.3".
var version string

// buildVersion is what this binary calls itself. Without a stamp it is what the
// Go toolchain recorded: the module's version, or the commit.
type buildVersion struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func currentVersion() buildVersion {
	info, _ := debug.ReadBuildInfo()
	return versionFrom(version, info)
}

// versionFrom takes a nil info for a binary built without module support.
func versionFrom(stamp string, info *debug.BuildInfo) buildVersion {
	v := buildVersion{Version: stamp, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info == nil {
		info = &debug.BuildInfo{}
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty && v.Commit != "" {
		v.Commit += "+changes"
	}
	if v.Version == "" && info.Main.Version != "(devel)" {
		v.Version = info.Main.Version
	}
	if v.Version == "" {
		v.Version = "devel"
	}
	return v
}

// String is the line of the version command.
func (v buildVersion) String() string {
	commit := ""
	if v.Commit != "" {
		commit = "commit " + v.Commit + ", "
	}
	return fmt.Sprintf("floatrelay %s (%s%s, %s/%s)", v.Version, commit, v.Go, v.OS, v.Arch)
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: runE(func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(currentVersion())
			}
			return a.print(currentVersion().String() + "\n")
		}),
	}
}
