//go:build !windows

package sharetest

// readersHinder: a file that is open can be replaced.
const readersHinder = false
