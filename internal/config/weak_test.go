package config

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHole15_WeakByContent(t *testing.T) {
	for _, token := range []string{
		"aaaaaaaaaaaaaaaa", "AAAAAAAAaaaaaaaa", "1234567890123456", "12345678901234567890123456", "abcdefghijklmnopqrst",
		"9876543210987654", "qwertyuiopasdfghjkl", "QWERTZUIOPasdfgh", "abababababababab", "abc123abc123abc123abc123",
		"passwordpassword", "password12345678", "floatrelay-token-1", "secretsecretsecretsecret", "0912345678091234",
		"5550173320194482", "POS-01POS-01POS-01POS-01", "a long secret of this site", " A Long Secret of this site", "short", "中中中中中中中中中中中中中中中中",
	} {
		require.NotEmpty(t, weakness(token), token)
	}
	for _, token := range []string{
		"the-token-of-this-site-7f3a", "correct horse battery staple", "Tr0ub4dor&3-is-not-long", "我們的站台有一個長的祕密不要告訴別人喔",
		"528491037746103958274610",
	} {
		require.Empty(t, weakness(token), token)
	}
	for range 2000 {
		b := make([]byte, 20)
		_, _ = rand.Read(b)
		for _, token := range []string{
			strings.ToLower(base32.StdEncoding.EncodeToString(b)), hex.EncodeToString(b), hex.EncodeToString(b[:10]),
		} {
			require.Empty(t, weakness(token), token)
		}
	}
}

// FIELD U9: what the documents show as a secret is none.
func TestU9_SampleSecretsAreWeak(t *testing.T) {
	n := 0
	for _, file := range []string{"../../README.md", "../../README.zh-TW.md"} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^\s*RELAY_TOKEN=(.+)$`).FindAllStringSubmatch(string(b), -1) {
			n++
			require.NotEmpty(t, weakness(m[1]), "%s: %s", file, m[1])
			requireWarning(t, read(t, "RELAY_TOKEN="+m[1]+"\n"), 1, "RELAY_TOKEN is the example of the documentation")
		}
	}
	require.Positive(t, n)
}
