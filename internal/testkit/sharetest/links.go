package sharetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// oddTime bounds a call that meets something which is no file. A call that
// opens a FIFO the ordinary way never returns.
const oddTime = 10 * time.Second

// stranger is a folder that is not ours, with files named as people name them
// and as we do.
func stranger(t testing.TB, folder string) (check func(what string)) {
	t.Helper()
	files := map[string]string{
		"letter.txt": "dear", "0000000001.lock": "not ours", "members/0000000002.lock": "not ours",
		"sub/photo.jpg": "x", lease.ViewName: "theirs",
	}
	for name, body := range files {
		full := filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o777))
		require.NoError(t, os.WriteFile(full, []byte(body), 0o666))
	}
	return func(what string) {
		t.Helper()
		seen := map[string]string{}
		require.NoError(t, filepath.WalkDir(folder, func(full string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := os.ReadFile(full)
			name, rel := filepath.Rel(folder, full)
			seen[filepath.ToSlash(name)] = string(b)
			return errors.Join(err, rel)
		}))
		require.Equal(t, files, seen, what)
	}
}

// plantLink makes a link, or reports that this system or account cannot.
func plantLink(t testing.TB, target, link string) bool {
	t.Helper()
	err := os.Symlink(target, link)
	if _, there := os.Lstat(link); err == nil { // wine says that it made one
		err = there
	}
	if err != nil {
		t.Logf("no link can be made here: %v", err)
		t.Log("NOT SHOWN: links on the share (none can be made here)")
	}
	return err == nil
}

// linksAreNotEntered: a link leads nowhere, whatever it is called and wherever
// on the way to a name it stands.
func linksAreNotEntered(t testing.TB, target Target) {
	if target.Path == nil {
		return
	}
	s := target.Fresh(t)()
	base, outside := target.Path(s), t.TempDir()
	check := stranger(t, outside)
	require.NoError(t, s.Mkdir(t.Context(), "d"))
	for link, to := range map[string]string{
		"l": outside, "d/l": outside, "f": outside + "/letter.txt", "dead": outside + "/none",
	} {
		if !plantLink(t, to, filepath.Join(base, link)) {
			return
		}
	}
	for what, call := range throughLinks(t.Context(), s) {
		err := call()
		require.Error(t, err, what)
		require.NotErrorIs(t, err, lease.ErrUnavailable, what)
		if !target.Hides {
			require.ErrorIs(t, err, lease.ErrIrregular, what)
			require.ErrorContains(t, err, "link", what)
		}
		check(what)
	}
	if target.Hides {
		return
	}
	for _, name := range []string{"l", "f", "dead"} {
		require.ErrorIs(t, s.Create(t.Context(), name, []byte("x")), lease.ErrExists, name)
	}
	require.NoError(t, s.Replace(t.Context(), "f", []byte("ours")), "a link gives way to the file")
	requireBody(t, s, "f", "ours")
	require.NoError(t, s.Remove(t.Context(), "l"), "the link alone")
	require.NoError(t, s.Remove(t.Context(), "d/l"))
	require.NoError(t, s.Remove(t.Context(), "dead"))
	check("links replaced and removed")
}

// throughLinks are the calls that would reach what is behind a link.
func throughLinks(ctx context.Context, s lease.Share) map[string]func() error {
	read := func(name string) func() error {
		return func() error { _, err := s.Read(ctx, name); return err }
	}
	list := func(name string) func() error {
		return func() error { _, err := s.List(ctx, name); return err }
	}
	return map[string]func() error{
		"list":           list("l"),
		"list below":     list("l/sub"),
		"list deep":      list("d/l"),
		"read":           read("f"),
		"read dead":      read("dead"),
		"read below":     read("l/letter.txt"),
		"read deep":      read("d/l/letter.txt"),
		"create below":   func() error { return s.Create(ctx, "l/new.lock", []byte("x")) },
		"replace below":  func() error { return s.Replace(ctx, "l/"+lease.ViewName, []byte("x")) },
		"make below":     func() error { return s.Mkdir(ctx, "d/l/new") },
		"remove below":   func() error { return s.Remove(ctx, "l/letter.txt") },
		"move into":      func() error { return s.Move(ctx, "d", "l/d") },
		"move out":       func() error { return s.Move(ctx, "l/sub", "sub") },
		"time of":        func() error { return modified(ctx, s, "l/letter.txt") },
		"time of a link": func() error { return modified(ctx, s, "f") },
	}
}

func modified(ctx context.Context, s lease.Share, name string) error {
	_, err := s.(lease.Inspector).Modified(ctx, name)
	return err
}

// oddFilesNeverBlock: whatever stands in place of a file is told at once.
func oddFilesNeverBlock(t testing.TB, target Target) {
	if target.Path == nil {
		return
	}
	s := target.Fresh(t)()
	base := target.Path(s)
	for kind, plant := range oddKinds {
		name := kind + ".lock"
		require.NoError(t, plant(filepath.Join(base, name)), kind)
		within(t, kind, func() {
			_, err := s.Read(t.Context(), name)
			if kind == "folder" || !target.Hides {
				require.ErrorIs(t, err, lease.ErrIrregular, kind)
			}
			_, err = s.List(t.Context(), name+"/members")
			require.Error(t, err)
			require.NotErrorIs(t, err, lease.ErrUnavailable, kind)
			require.ErrorIs(t, s.Create(t.Context(), name, []byte("x")), lease.ErrExists, kind)
			if kind != "folder" {
				require.Error(t, s.Create(t.Context(), name+"/x.lock", nil), kind)
				require.NoError(t, s.Replace(t.Context(), name, []byte("x")), kind)
				requireBody(t, s, name, "x")
			}
			require.NoError(t, s.Remove(t.Context(), name), kind)
		})
		require.NoError(t, s.Create(t.Context(), name, []byte("after")), "no trace of the %s", kind)
		requireBody(t, s, name, "after")
	}
}

// within fails if call takes longer than oddTime; a call that hangs is left
// behind.
func within(t testing.TB, what string, call func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	select {
	case <-done:
	case <-time.After(oddTime):
		require.Fail(t, "a call hangs", what)
	}
}

// chainLeavesStrangersAlone: founding and housekeeping remove names that we
// build and nothing else, also where a link makes another folder look like ours.
func chainLeavesStrangersAlone(t testing.TB, target Target) {
	if target.Path == nil {
		return
	}
	const share = "45a935d1-0000-4000-8000-000000000001"
	s := target.Fresh(t)()
	base, outside := target.Path(s), filepath.Join(target.Path(s), "other")
	check := stranger(t, outside) // on the share itself: some servers follow such links without telling
	require.NoError(t, os.MkdirAll(filepath.Join(base, "relay_leader.d", share), 0o777))
	temp := []string{lease.TempPrefix + "0", lease.TempPrefix + "0123456789abcdef", lease.TempPrefix + "photos"}
	for _, link := range append(temp[:2:2], "relay_leader.d/"+share+"/members") {
		if !plantLink(t, outside, filepath.Join(base, filepath.FromSlash(link))) {
			return
		}
	}
	own := stranger(t, filepath.Join(base, temp[2]))
	chain := lease.NewChain(s)
	age := time.Duration(0)
	chain.Age = func() time.Duration { return age }
	for range 4 {
		_ = chain.Found(t.Context(), share, 1, []byte("genesis")) // fails where the link cannot be removed
		age += time.Hour
		_ = chain.Delete(t.Context(), share, nil)
		check("founding and housekeeping")
		own("a folder that only looks temporary")
	}
	if !target.Hides {
		list, err := chain.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, share, list.Share, "a chain is founded beside what was planted")
	}
}
