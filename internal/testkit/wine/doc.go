// Package wine lets tests tell wine from Windows, and say plainly what wine
// cannot show. Only tests import it.
package wine

import "testing"

// NotShown reports whether the test runs under wine and, if so, writes down
// what is therefore not shown; .ci/windows repeats these lines at its end.
// Whoever gets false is on a real system and demands the real thing.
func NotShown(t testing.TB, what string) bool {
	t.Helper()
	if !Running() {
		return false
	}
	t.Logf("NOT SHOWN: %s", what)
	return true
}
