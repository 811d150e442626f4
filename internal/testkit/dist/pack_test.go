package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func someFiles() []file {
	return []file{{"docs/功.md", []byte("text\n"), false}, {"floatrelay", bytes.Repeat([]byte("program"), 1000), true}}
}

var when = time.Unix(1_700_000_000, 0).UTC()

// The same content gives the same bytes, and another time or mode other ones.
func TestPack_IsReproducible(t *testing.T) {
	for name, pack := range map[string]func(io.Writer, string, []file, time.Time) error{"zip": packZip, "tar": packTar} {
		t.Run(name, func(t *testing.T) {
			bytesOf := func(files []file, at time.Time) []byte {
				var b bytes.Buffer
				require.NoError(t, pack(&b, "folder", files, at))
				return b.Bytes()
			}
			first := bytesOf(someFiles(), when)
			require.Equal(t, first, bytesOf(someFiles(), when))
			require.NotEqual(t, first, bytesOf(someFiles(), when.Add(time.Hour)))
			other := someFiles()
			other[0].exec = true
			require.NotEqual(t, first, bytesOf(other, when))
		})
	}
}

func TestPackZip_Content(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, packZip(&b, "f", someFiles(), when))
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	require.Len(t, z.File, 2)
	require.Equal(t, "f/docs/功.md", z.File[0].Name)
	require.True(t, when.Equal(z.File[0].Modified))
	require.Equal(t, os.FileMode(0o755), z.File[1].Mode())
	r, err := z.File[0].Open()
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "text\n", string(text))
}

func TestPackTar_Content(t *testing.T) {
	var b bytes.Buffer
	files := someFiles()
	files[0].name = "docs/a.md" // USTAR names are ASCII
	require.NoError(t, packTar(&b, "f", files, when))
	gz, err := gzip.NewReader(&b)
	require.NoError(t, err)
	require.True(t, gz.ModTime.IsZero())
	r := tar.NewReader(gz)
	var names []string
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.True(t, when.Equal(h.ModTime))
		require.Equal(t, "root", h.Uname)
		names = append(names, h.Name)
	}
	require.Equal(t, []string{"f/docs/a.md", "f/floatrelay"}, names)
}

// What goes into an archive: everything a technician needs, for that system.
func TestCollect(t *testing.T) {
	t.Chdir("../../..")
	bin := filepath.Join(t.TempDir(), "bin")
	require.NoError(t, os.WriteFile(bin, []byte("x"), 0o755))
	for sys, want := range map[string][]string{
		"windows": {"floatrelay.exe", "install.ps1", "uninstall.ps1"},
		"linux":   {"floatrelay", "install.sh", "uninstall.sh"},
	} {
		files, err := collect(target{sys, "amd64"}, bin)
		require.NoError(t, err)
		names := map[string]file{}
		for i, f := range files {
			names[f.name] = f
			require.True(t, i == 0 || files[i-1].name < f.name, "sorted")
		}
		for _, n := range append(want, "stk.ini.template", "README.md", "README.zh-TW.md", "SECURITY.md", "LICENSE", "docs/operations.md", "docs/configuration.md") {
			require.NotEmpty(t, names[n].data, "%s in the archive for %s", n, sys)
		}
		require.True(t, names[want[0]].exec)
		require.Contains(t, string(names["stk.ini.template"].data), "RELAY_TOKEN=")
		for n, f := range names {
			if filepath.Ext(n) == ".ps1" {
				for _, c := range f.data {
					require.Less(t, c, byte(0x80), "%s: PowerShell reads scripts in the local code page", n)
				}
			}
		}
	}
}

func TestWriteSums(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o600))
	require.NoError(t, writeSums(dir, []string{"b", "a"}))
	text, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n"+
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n", string(text))
}
