//go:build !windows

package main

const otherSystemPath = `C:\STK\relay_server.exe`
