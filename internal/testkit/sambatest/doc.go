// Package sambatest runs a private Samba server for tests: its own
// configuration, password file and folders, any port, nothing of the system's
// touched. It needs root and the package samba.
package sambatest
