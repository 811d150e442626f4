//go:build !windows

package relayproc

import "io/fs"

// NotExecutable says why the system would not start a file as a program and what
// to do about it, or returns "".
func NotExecutable(st fs.FileInfo) string {
	if st.Mode().Perm()&0o111 == 0 {
		return "is not executable (chmod +x)"
	}
	return ""
}
