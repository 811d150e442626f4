package config

import (
	"bytes"
	"regexp"
	"strings"
)

// ownNames finds one of our keys in the bytes of a file, one byte per character.
var ownNames = func() *regexp.Regexp {
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return regexp.MustCompile(`(?i)(` + strings.Join(names, "|") + `)[ \t]*=`)
}()

// mixedLine is the line of a UTF-16 file on which text of another encoding
// begins, as a program leaves it that appends with >>; 0 if there is none. Such
// text reads as Chinese characters, so that a setting of ours would be lost.
func mixedLine(data []byte, encoding string) int {
	if !strings.HasPrefix(encoding, "UTF-16") {
		return 0
	}
	at := ownNames.FindIndex(data)
	if at == nil {
		return 0
	}
	end := []byte{'\n', 0}
	if strings.HasPrefix(encoding, "UTF-16 BE") {
		end = []byte{0, '\n'}
	}
	return 1 + bytes.Count(data[:at[0]], end)
}
