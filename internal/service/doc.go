// Package service puts the daemon under the system's service manager: the
// Windows service control manager or systemd.
//
// Installing, starting and stopping go through kardianos/service. What it does
// not know is added here: an account that can reach the share, the right to log
// on as a service, recovery also after an exit with an error, a unit that leaves
// the guard alive for its last will, and, while running under Windows, the
// notices of a shutdown and of a PC going to sleep.
//
// It limits itself to those two managers. On other systems `floatrelay run` is
// started by whatever starts programs there, and stops cleanly on SIGTERM.
package service
