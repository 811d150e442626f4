//go:build !windows

package service

func abs(name string) string { return "/opt/stk 功/" + name }
