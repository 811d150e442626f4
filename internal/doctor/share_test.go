package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/lease"
)

// empty demands that the checks left nothing behind.
func empty(t *testing.T, dir string) {
	t.Helper()
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, names)
}

func TestShare_Good(t *testing.T) {
	dir := t.TempDir()
	open := opener(lease.NewDir(dir))
	got := look(t, shareCheck(figures(dir), open, nil))
	require.Len(t, got, 5)
	for i, want := range []string{"can be read", "free space: ", "can be written", "clock of the share agrees", "that a reader has open is replaced"} {
		require.Equal(t, OK, got[i].Level)
		require.Contains(t, got[i].Text, want)
	}
	empty(t, dir)
	one(t, look(t, exclusiveCheck(open)), OK, "one winner in each of 20 races", "")
	empty(t, dir)
}

func TestShare_Missing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	one(t, look(t, shareCheck(figures(dir), opener(lease.NewDir(dir)), nil)), Failure, "cannot list", "never creates it")
	require.NoDirExists(t, dir)
	for _, check := range []func(context.Context, Tell){
		exclusiveCheck(opener(lease.NewDir(dir))), chainCheck(figures(dir), opener(lease.NewDir(dir))),
	} {
		require.Empty(t, look(t, check), "one cause is told once")
	}
}

func TestShare_NotOpened(t *testing.T) {
	open := func() (lease.Share, error) { return nil, errors.New("open LEASE_DIR: no such backend") }
	one(t, look(t, shareCheck(figures(""), open, nil)), Failure, "no such backend", "LEASE_DIR")
	require.Empty(t, look(t, exclusiveCheck(open)))
	require.Empty(t, look(t, chainCheck(figures(""), open)))
}

func TestShare_NotWritable(t *testing.T) {
	dir := t.TempDir()
	share := faulty.New(lease.NewDir(dir), faulty.When(faulty.Fail(lease.ErrDenied), faulty.Kinds(faulty.Create)))
	got := look(t, shareCheck(figures(dir), opener(share), nil))
	require.Len(t, got, 2)
	one(t, got[1:], Failure, "cannot write in", "right to create")
	require.Empty(t, look(t, exclusiveCheck(opener(share))))
}

func TestShare_BodyLost(t *testing.T) {
	dir := t.TempDir()
	share := faulty.New(lease.NewDir(dir), faulty.NoBody())
	got := look(t, shareCheck(figures(dir), opener(share), nil))
	require.Equal(t, Failure, got[len(got)-1].Level)
	empty(t, dir)
}

// forgetful is a share that reads something else than was written.
type forgetful struct{ lease.Share }

func (forgetful) Read(context.Context, string) ([]byte, error) { return []byte("old"), nil }

func TestShare_ReadsSomethingElse(t *testing.T) {
	dir := t.TempDir()
	got := look(t, shareCheck(figures(dir), opener(forgetful{lease.NewDir(dir)}), nil))
	one(t, got[1:], Failure, "3 bytes came back, not the 1000 written", "file server")
	empty(t, dir)
}

func TestShare_Slow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		share := faulty.New(lease.NewDir(dir), faulty.Delay(600*time.Millisecond))
		got := look(t, shareCheck(figures(dir), opener(share), nil))
		one(t, got[1:], Warning, "takes up to 600ms for a small file, more than LEASE_FENCE/3 (500ms)", "LEASE_FENCE")
		one(t, look(t, exclusiveCheck(opener(share))), OK, "one winner in each of 4 races", "")
		empty(t, dir)
	})
}

// A share that hangs is told within the limit, by every check that asks it.
func TestShare_Hanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		gate := &faulty.Gate{}
		gate.Close()
		open := opener(deaf{faulty.New(lease.NewDir(dir), faulty.Stall(gate))})
		begin := time.Now()
		report := Run(t.Context(), []Check{
			{"share", shareCheck(figures(dir), open, nil), hungShare},
			{"exclusive", exclusiveCheck(open), hungShare},
			{"chain", chainCheck(figures(dir), open), hungShare},
		}, Limit)
		require.Less(t, time.Since(begin), 15*time.Second)
		require.False(t, report.OK)
		require.Equal(t, Failure, report.Results[0].Level)
		require.Equal(t, hungShare, report.Results[0].Do)
		gate.Open()
		synctest.Wait()
	})
}

// deaf is a share whose calls do not end with their context.
type deaf struct{ lease.Share }

func (d deaf) List(_ context.Context, dir string) ([]string, error) {
	return d.Share.List(context.Background(), dir)
}

func (d deaf) Create(_ context.Context, name string, body []byte) error {
	return d.Share.Create(context.Background(), name, body)
}

func (d deaf) Remove(_ context.Context, name string) error {
	return d.Share.Remove(context.Background(), name)
}

// generous is a share on which everybody wins, as some FUSE mounts are.
type generous struct{ lease.Share }

func (generous) Create(context.Context, string, []byte) error { return nil }

func TestExclusive_TwoWinnersAreAFailure(t *testing.T) {
	got := look(t, exclusiveCheck(opener(generous{lease.NewDir(t.TempDir())})))
	one(t, got, Failure, "not exclusive: 4 of 4 won round 1", "two PCs could both lead")
}

func TestExclusive_NoWinnerIsAFailure(t *testing.T) {
	dir := t.TempDir()
	share := faulty.New(lease.NewDir(dir), faulty.When(faulty.Fail(lease.ErrExists), faulty.Kinds(faulty.Create)))
	one(t, look(t, exclusiveCheck(opener(share))), Failure, "nobody could create", "another kind of share")
}

func TestShareAdvice_DriveLettersAreInvisibleToServices(t *testing.T) {
	require.Contains(t, shareAdvice(`W:\socket`, lease.ErrUnavailable), "UNC path")
	require.NotContains(t, shareAdvice(`C:\socket`, lease.ErrUnavailable), "UNC path")
	require.NotContains(t, shareAdvice(`\\server\share`, lease.ErrUnavailable), "UNC path")
	require.Equal(t, hungShare, shareAdvice(`W:\socket`, context.DeadlineExceeded))
}

// record founds a chain whose only record is sealed by this site.
func record(t *testing.T, dir, kmsn, token string) {
	t.Helper()
	codec, err := lease.NewCodec(kmsn, token)
	require.NoError(t, err)
	body, err := codec.Seal(lease.Record{
		Share: "6f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d", KMSN: kmsn, Station: "POS-03", Rev: 7, Epoch: 3,
		Owner: lease.ID{Node: "3", Run: "a1"}, State: lease.Held, Reason: "takeover",
		IP: "192.168.1.13", Port: 9530, PID: 4, TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
	})
	require.NoError(t, err)
	chain := lease.NewChain(lease.NewDir(dir))
	require.NoError(t, chain.Found(t.Context(), "6f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d", 7, body))
}

func TestChain_SaysWhoseItIs(t *testing.T) {
	for name, tc := range map[string]struct {
		kmsn, token string
		level       Level
		text, do    string
	}{
		"ours":        {testKMSN, testToken, OK, "record 7, epoch 3, held by POS-03 at 192.168.1.13:9530", ""},
		"old token":   {testKMSN, "the-old-token-of-this-site", OK, "record 7", ""},
		"other token": {testKMSN, "another-token-of-this-site", Failure, "written by POS-03", "token fingerprint"},
		"other site":  {"0815", testToken, Failure, "KMSN is 0815, ours is " + testKMSN, "belongs to another site"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			record(t, dir, tc.kmsn, tc.token)
			cfg := figures(dir)
			cfg.OldToken = "the-old-token-of-this-site"
			one(t, look(t, chainCheck(cfg, opener(lease.NewDir(dir)))), tc.level, tc.text, tc.do)
		})
	}
}

func TestChain_None(t *testing.T) {
	dir := t.TempDir()
	one(t, look(t, chainCheck(figures(dir), opener(lease.NewDir(dir)))), OK, "no chain yet", "")
	empty(t, dir)
}

func TestChain_TwoInOneFolder(t *testing.T) {
	dir := t.TempDir()
	record(t, dir, testKMSN, testToken)
	second := filepath.Join(dir, "relay_leader.d", "7f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d")
	require.NoError(t, os.Mkdir(second, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(second, "0000000001.lock"), nil, 0o600))
	one(t, look(t, chainCheck(figures(dir), opener(lease.NewDir(dir)))), Failure, "more than one chain", "wrong chain")
}

func TestChain_DamagedRecord(t *testing.T) {
	dir := t.TempDir()
	record(t, dir, testKMSN, testToken)
	next := filepath.Join(dir, "relay_leader.d", "6f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d", "0000000008.lock")
	require.NoError(t, os.WriteFile(next, make([]byte, 180), 0o600))
	one(t, look(t, chainCheck(figures(dir), opener(lease.NewDir(dir)))), Failure, "is damaged or was not written by floatrelay (only NUL", "find out what writes")
	require.NoError(t, os.WriteFile(next, nil, 0o600))
	found := look(t, chainCheck(figures(dir), opener(lease.NewDir(dir))))
	one(t, found, Failure, "created without a body", "space left")
	require.NotContains(t, fmt.Sprint(found), "RELAY_TOKEN")
}

func TestRelay_Program(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	plain := write("plain.txt", "text", 0o644)
	for name, tc := range map[string]struct {
		exe      string
		priority int
		level    Level
		text, do string
	}{
		"runs":           {write("relay.bat", "exit", 0o755), 100, OK, "can be run", ""},
		"missing":        {filepath.Join(dir, "no.exe"), 100, Failure, "there is no", "RELAY_EXE"},
		"not set":        {"", 100, Failure, "not set", "RELAY_PRIORITY=0"},
		"not needed":     {"", 0, OK, "never leads", ""},
		"a folder":       {dir, 100, Failure, "is not a file", "program file itself"},
		"empty":          {write("empty.exe", "", 0o755), 100, Failure, "is empty", "again"},
		"not executable": {plain, 100, Failure, plain, map[bool]string{true: ".exe", false: "chmod"}[runtime.GOOS == "windows"]},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Config{RelayExe: tc.exe, RelayPriority: tc.priority}
			one(t, look(t, relayCheck(cfg)), tc.level, tc.text, tc.do)
		})
	}
}

func TestState_Folder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	one(t, look(t, stateCheck(config.Config{StateDir: dir}, noDaemon)), OK, "can be written", "")
	empty(t, dir)
	missing := filepath.Join(dir, "missing")
	one(t, look(t, stateCheck(config.Config{StateDir: missing}, noDaemon)), OK, "the daemon makes it", "")
	require.NoDirExists(t, missing)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	one(t, look(t, stateCheck(config.Config{StateDir: file}, noDaemon)), Failure, file, "STATE_DIR")
}

func TestState_DamagedFiles(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "node"), []byte("\x00"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "state.json"), []byte("{"), 0o600))
	got := look(t, stateCheck(config.Config{StateDir: dir}, noDaemon))
	require.Len(t, got, 3)
	one(t, got[1:2], Failure, "node is damaged", "delete this file")
	one(t, got[2:], Warning, "state.json is damaged", "puts it aside")
}

// A file server shows a new record's name a moment before its body: a doctor that
// looks just then finds nothing wrong, one that still sees no body does.
func TestChain_RecordThatIsBeingWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		written time.Duration // after the first look; zero is never
		level   Level
		text    string
	}{
		"a moment later": {bodyFollows / 4, OK, "record 7, epoch 3"},
		"never":          {0, Failure, "created without a body"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			record(t, dir, testKMSN, testToken)
			path := filepath.Join(dir, filepath.FromSlash(lease.RecordName("6f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d", 7)))
			body, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.Truncate(path, 0))
			if tc.written > 0 {
				late := time.AfterFunc(tc.written, func() { _ = os.WriteFile(path, body, 0o600) })
				t.Cleanup(func() { late.Stop() })
			}
			one(t, look(t, chainCheck(figures(dir), opener(lease.NewDir(dir)))), tc.level, tc.text, "")
		})
	}
}
