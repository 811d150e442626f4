package service

func abs(name string) string { return `C:\STK 功\` + name }
