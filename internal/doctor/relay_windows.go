package doctor

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// notRunnable says why Windows would not start the file as a program.
func notRunnable(path string, _ fs.FileInfo) (do, text string) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".exe", ".bat", ".cmd", ".com":
		return "", ""
	}
	return "name an .exe, .bat or .cmd in RELAY_EXE", "is not a program Windows can start"
}
