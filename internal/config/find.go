package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// FileName is the name looked for next to the executable.
const FileName = "stk.ini"

// Find returns the absolute path of the stk.ini to use: the one named by the
// --config flag if it is not empty, else the first that exists next to the
// executable or at SystemPath. ErrNotFound lists the places searched.
func Find(flag string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	exe, err := os.Executable()
	if err != nil {
		return find([]string{SystemPath})
	}
	places := []string{filepath.Join(filepath.Dir(exe), FileName)}
	if real, err := filepath.EvalSymlinks(exe); err == nil && filepath.Dir(real) != filepath.Dir(exe) {
		places = append(places, filepath.Join(filepath.Dir(real), FileName))
	}
	return find(append(places, SystemPath))
}

// find returns the first place that is there, readable or not: a file that
// cannot be read must not be passed over for another one in silence.
func find(places []string) (string, error) {
	for _, p := range places {
		if st, err := os.Stat(p); err == nil && !st.IsDir() || err != nil && !os.IsNotExist(err) {
			return p, nil
		}
	}
	for _, p := range places {
		if txt := hiddenTxt(p); txt != "" {
			return "", fmt.Errorf("%w, but %s is there: rename it to %s", ErrNotFound, txt, FileName)
		}
	}
	return "", fmt.Errorf("%w at %s; name it with --config", ErrNotFound, strings.Join(places, ", "))
}

// hiddenTxt returns the file that an editor made of path: Windows shows stk.ini.txt
// as stk.ini. "" if there is none.
func hiddenTxt(path string) string {
	if st, err := os.Stat(path + ".txt"); err == nil && !st.IsDir() {
		return path + ".txt"
	}
	return ""
}
