package relayproc

import "io/fs"

// NotExecutable returns "": Windows keeps no mark of what is a program.
func NotExecutable(fs.FileInfo) string { return "" }
