package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"

	"github.com/convertfw/floatrelay/internal/config"
)

// file is one entry of an archive.
type file struct {
	name string // with slashes, below the archive's folder
	data []byte
	exec bool
}

// documents are what every archive carries, relative to the repository.
var documents = []string{"README.md", "README.zh-TW.md", "SECURITY.md", "CHANGELOG.md", "LICENSE"}

// collect returns the files of an archive, sorted by name.
func collect(t target, bin string) ([]file, error) {
	var files []file
	add := func(name, from string, exec bool) error {
		data, err := os.ReadFile(from)
		if err != nil {
			return fmt.Errorf("collect the files: %w", err)
		}
		files = append(files, file{name, data, exec})
		return nil
	}
	program := "floatrelay"
	if t.os == "windows" {
		program += ".exe"
	}
	if err := add(program, bin, true); err != nil {
		return nil, err
	}
	for _, name := range documents {
		if err := add(name, name, false); err != nil {
			return nil, err
		}
	}
	scripts := filepath.Join("deploy", t.os)
	for dir, below := range map[string]string{"docs": "docs", scripts: ""} {
		found, err := walk(dir)
		if err != nil {
			return nil, fmt.Errorf("collect the files: %w: run it at the top of the repository", err)
		}
		for _, name := range found {
			if err := add(path.Join(below, name), filepath.Join(dir, name), filepath.Ext(name) == ".sh"); err != nil {
				return nil, err
			}
		}
	}
	var ini bytes.Buffer
	if err := config.WriteTemplate(&ini); err != nil {
		return nil, err
	}
	files = append(files, file{"stk.ini.template", ini.Bytes(), false})
	sort.Slice(files, func(i, j int) bool { return files[i].name < files[j].name })
	return files, nil
}

// walk returns the files below dir, with slashes and relative to it.
func walk(dir string) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}
