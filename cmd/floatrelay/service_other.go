//go:build !windows

package main

func accountName(user string) string { return user }
