//go:build !windows

package doctor

import "io/fs"

// notRunnable says why the system would not start the file as a program.
func notRunnable(_ string, st fs.FileInfo) (do, text string) {
	if st.Mode().Perm()&0o111 == 0 {
		return "make it executable (chmod +x)", "is not executable"
	}
	return "", ""
}
