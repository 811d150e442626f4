package sitetest

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localsite"
)

// saboteur has write access to the share and nothing else.
type saboteur struct {
	t     *testing.T
	share string
}

// records are the paths of the chain's records, oldest first.
func (x *saboteur) records() []string {
	files, err := filepath.Glob(filepath.Join(x.share, "relay_leader.d", "*", "*.lock"))
	require.NoError(x.t, err)
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return files
}

// next is the name of the record after the newest.
func (x *saboteur) next() (path string, ok bool) {
	all := x.records()
	if len(all) == 0 {
		return "", false
	}
	last := all[len(all)-1]
	var rev int
	if _, err := fmt.Sscanf(filepath.Base(last), "%d.lock", &rev); err != nil {
		return "", false
	}
	return filepath.Join(filepath.Dir(last), fmt.Sprintf("%010d.lock", rev+1)), true
}

func (x *saboteur) takeName(body []byte) {
	if path, ok := x.next(); ok {
		_ = os.WriteFile(path, body, 0o644)
	}
}

// deeds are what can be done to the lease without the token.
func (x *saboteur) deeds() map[string]func() {
	noise := make([]byte, 600)
	_, _ = rand.Read(noise)
	newest := func() string { all := x.records(); return all[max(0, len(all)-1)] }
	read := func(path string) []byte { b, _ := os.ReadFile(path); return b }
	return map[string]func(){
		"take the next name, empty":            func() { x.takeName(nil) },
		"take the next name, noise":            func() { x.takeName(noise) },
		"take the next name, the newest again": func() { x.takeName(read(newest())) },
		"take the next name, the oldest again": func() { x.takeName(read(x.records()[0])) },
		"take five names": func() {
			for range 5 {
				x.takeName(noise)
			}
		},
		"spoil the newest":     func() { _ = os.WriteFile(newest(), noise, 0o644) },
		"cut the newest short": func() { _ = os.Truncate(newest(), 40) },
		"delete the newest":    func() { _ = os.Remove(newest()) },
		"delete all but the oldest": func() {
			for _, path := range x.records()[1:] {
				_ = os.Remove(path)
			}
		},
		"spoil the view": func() { _ = os.WriteFile(filepath.Join(x.share, "relay_leader.json"), noise, 0o644) },
		"copy the chain under another id": func() {
			dir := filepath.Dir(newest())
			_ = os.CopyFS(filepath.Join(filepath.Dir(dir), "00000000-0000-4000-8000-000000000000"), os.DirFS(dir))
		},
		"move the chain away and back": func() {
			dir := filepath.Join(x.share, "relay_leader.d")
			_ = os.Rename(dir, dir+".away")
			time.Sleep(1500 * time.Millisecond)
			_ = os.RemoveAll(dir)
			_ = os.Rename(dir+".away", dir)
		},
		"delete the chain": func() { _ = os.RemoveAll(filepath.Join(x.share, "relay_leader.d")) },
	}
}

// Whoever may write to the share can interrupt the relay in many ways, but never
// make two of it, and once he stops there is a relay again.
func TestOps_AbuseWithWriteAccess(t *testing.T) {
	t.Parallel()
	for name := range (&saboteur{}).deeds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, _ := start(t, localsite.Options{Extra: quick()})
			s.roster(2)
			x := &saboteur{t: t, share: s.Share}
			for range 3 {
				if len(x.records()) > 0 {
					x.deeds()[name]()
				}
				time.Sleep(quickFence)
			}
			// build demands, at the end, that two relays never lived at once.
			s.until(40*time.Second+2*slack, "there is a relay again, and a record that can be read", func() error {
				if _, err := s.Head(t.Context()); err != nil {
					return err
				}
				_, _, err := s.Leader(t.Context())
				return err
			})
		})
	}
}
