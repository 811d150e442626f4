package sharetest

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// Target says how to reach the backend under test.
type Target struct {
	// Fresh makes an empty LEASE_DIR and returns how to open it. Every call of
	// open gives a share of its own (its own connection, where there is one).
	Fresh func(t testing.TB) (open func() lease.Share)
	// Missing opens a share whose LEASE_DIR does not exist.
	Missing func(t testing.TB) lease.Share
	// Path is the folder, on this machine, behind a share that Fresh made: the
	// claims about links and odd files plant them there. Nil leaves these out.
	Path func(s lease.Share) string
	// Hides says that the server follows links inside its share by itself and
	// shows FIFOs as files, so that no client can tell; what is behind a link
	// must be left alone all the same.
	Hides bool
	// Rounds and Workers size the races; zero means the flag's rounds and 16.
	Rounds, Workers int
}

var rounds = flag.Int("sharetest.rounds", 50, "rounds of each race of the share contract; four publications per round")

// Run runs the whole contract against a backend.
func Run(t *testing.T, target Target) {
	t.Helper()
	if target.Rounds == 0 {
		target.Rounds = *rounds
	}
	if target.Workers == 0 {
		target.Workers = 16
	}
	for _, c := range claims {
		t.Run(c.name, func(t *testing.T) { c.check(t, target) })
	}
}

// claims are what every share must keep, one function each.
var claims = []struct {
	name  string
	check func(testing.TB, Target)
}{
	{"CreateIsExclusive", createIsExclusive},
	{"CreateRaceHasOneWinner", createRace},
	{"CreatedBodyIsWhole", createdBodyIsWhole},
	{"CreateNeedsItsFolder", createNeedsFolder},
	{"ReadNotExist", readNotExist},
	{"ListShowsFilesAndFolders", listShows},
	{"ListNotExist", listNotExist},
	{"ReplaceMakesAndReplaces", replaceMakes},
	{"ReplaceIsSeenWhole", replaceSeenWhole},
	{"ReplaceLeavesNothingBehind", replaceLeavesNothing},
	{"MkdirIsExclusive", mkdirIsExclusive},
	{"MoveTakesTheContentAlong", moveTakesContent},
	{"MoveNeverReplaces", moveNeverReplaces},
	{"MoveRaceHasOneWinner", moveRace},
	{"RemoveFilesAndEmptyFolders", removeFiles},
	{"RemovedNameCanBeCreatedAgain", removedNameAgain},
	{"NamesStayInside", namesStayInside},
	{"LinksAreNotEntered", linksAreNotEntered},
	{"OddFilesNeverBlock", oddFilesNeverBlock},
	{"ChainLeavesStrangersAlone", chainLeavesStrangersAlone},
	{"DoneContextIsNotAsked", doneContext},
	{"MissingFolderIsUnavailable", missingFolder},
	{"StringNamesTheShare", stringNames},
}

func createIsExclusive(t testing.TB, target Target) {
	open := target.Fresh(t)
	s := open()
	require.NoError(t, s.Create(t.Context(), "a.lock", []byte("one")))
	require.ErrorIs(t, s.Create(t.Context(), "a.lock", []byte("two")), lease.ErrExists)
	require.ErrorIs(t, open().Create(t.Context(), "a.lock", []byte("three")), lease.ErrExists)
	requireBody(t, open(), "a.lock", "one")
}

func createdBodyIsWhole(t testing.TB, target Target) {
	open := target.Fresh(t)
	for name, body := range map[string]string{"empty": "", "binary": "\x00\r\n\x1a\xff", "long": long(20_000)} {
		require.NoError(t, open().Create(t.Context(), name, []byte(body)))
		requireBody(t, open(), name, body)
	}
}

func createNeedsFolder(t testing.TB, target Target) {
	s := target.Fresh(t)()
	require.ErrorIs(t, s.Create(t.Context(), "no/such/a.lock", nil), lease.ErrNotExist)
}

func readNotExist(t testing.TB, target Target) {
	s := target.Fresh(t)()
	_, err := s.Read(t.Context(), "none")
	require.ErrorIs(t, err, lease.ErrNotExist)
	_, err = s.Read(t.Context(), "no/such/none")
	require.ErrorIs(t, err, lease.ErrNotExist)
}

func listShows(t testing.TB, target Target) {
	s := target.Fresh(t)()
	names, err := s.List(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, names)
	require.NoError(t, s.Mkdir(t.Context(), "d"))
	require.NoError(t, s.Mkdir(t.Context(), "d/e"))
	for _, name := range []string{"0000000001.lock", "0000000002.lock", "x.json"} {
		require.NoError(t, s.Create(t.Context(), "d/"+name, []byte("x")))
	}
	names, err = s.List(t.Context(), "d")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"0000000001.lock", "0000000002.lock", "x.json", "e"}, names)
}

func listNotExist(t testing.TB, target Target) {
	_, err := target.Fresh(t)().List(t.Context(), "none")
	require.ErrorIs(t, err, lease.ErrNotExist)
}

func mkdirIsExclusive(t testing.TB, target Target) {
	s := target.Fresh(t)()
	require.NoError(t, s.Mkdir(t.Context(), "d"))
	require.ErrorIs(t, s.Mkdir(t.Context(), "d"), lease.ErrExists)
	require.ErrorIs(t, s.Mkdir(t.Context(), "no/such"), lease.ErrNotExist)
}

func removeFiles(t testing.TB, target Target) {
	s := target.Fresh(t)()
	require.NoError(t, s.Mkdir(t.Context(), "d"))
	require.NoError(t, s.Create(t.Context(), "d/f", []byte("x")))
	err := s.Remove(t.Context(), "d")
	require.ErrorIs(t, err, lease.ErrExists, "a folder with something in it stays")
	requireBody(t, s, "d/f", "x")
	require.NoError(t, s.Remove(t.Context(), "d/f"))
	require.ErrorIs(t, s.Remove(t.Context(), "d/f"), lease.ErrNotExist)
	require.NoError(t, s.Remove(t.Context(), "d"))
	require.ErrorIs(t, s.Remove(t.Context(), "d"), lease.ErrNotExist)
}

func removedNameAgain(t testing.TB, target Target) {
	open := target.Fresh(t)
	for range 20 {
		require.NoError(t, open().Create(t.Context(), "f", []byte("x")))
		require.NoError(t, open().Remove(t.Context(), "f"))
	}
}

func namesStayInside(t testing.TB, target Target) {
	s := target.Fresh(t)()
	for _, name := range []string{"../x", "a/../../x", "/x", `..\x`, `a\b`, "C:x", "./x", "a//b", "a/"} {
		require.ErrorIs(t, s.Create(t.Context(), name, nil), lease.ErrDenied, name)
		_, err := s.Read(t.Context(), name)
		require.ErrorIs(t, err, lease.ErrDenied, name)
		require.ErrorIs(t, s.Move(t.Context(), "a", name), lease.ErrDenied, name)
	}
}

func stringNames(t testing.TB, target Target) {
	open := target.Fresh(t)
	require.NotEmpty(t, open().String())
	require.Equal(t, open().String(), open().String())
}
