//go:build !windows

package service

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	Notify("READY=1")
	require.NoError(t, l.SetReadDeadline(time.Now().Add(20*time.Second)))
	var b [64]byte
	n, err := l.Read(b[:])
	require.NoError(t, err)
	require.Equal(t, "READY=1", string(b[:n]))
	t.Run("nobody there", func(t *testing.T) {
		t.Setenv("NOTIFY_SOCKET", path+".gone")
		Notify("READY=1")
		t.Setenv("NOTIFY_SOCKET", "")
		Notify("READY=1")
	})
}
