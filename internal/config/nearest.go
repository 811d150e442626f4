package config

import "strings"

// nearest returns the key of ours that a mistyped name probably means, or "".
// Long names may differ by two letters, short ones by one.
func nearest(name string) string {
	plain := squeeze(name)
	best, bestDist := "", 3
	for _, k := range keys {
		want := squeezed[k]
		if plain == want {
			return k.Name
		}
		most := 2
		if len(want) < longName {
			most = 1
		}
		if apart := len(plain) - len(want); apart < -most || apart > most {
			continue
		}
		if d := distance(plain, want); d <= most && d < bestDist {
			best, bestDist = k.Name, d
		}
	}
	return best
}

// longName is the length of a name from which two letters may differ.
const longName = 8

var squeezed = func() map[*Key]string {
	m := make(map[*Key]string, len(keys))
	for _, k := range keys {
		m[k] = squeeze(k.Name)
	}
	return m
}()

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || !isKeyRune(r) {
			return -1
		}
		return r
	}, strings.ToUpper(s))
}

// distance counts the letters to change, add, drop or swap with a neighbour.
func distance(a, b string) int {
	before, prev := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur := make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev = prev, cur
	}
	return prev[len(b)]
}
