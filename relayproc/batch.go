package relayproc

import (
	"fmt"
	"path/filepath"
	"strings"
)

// isBatch reports whether exe needs cmd.exe to run.
func isBatch(exe string) bool {
	switch strings.ToLower(filepath.Ext(exe)) {
	case ".bat", ".cmd":
		return true
	}
	return false
}

// batchLine is the command line for cmd.exe that runs a batch file with these
// arguments taken literally. CreateProcess on a .bat directly would let cmd.exe
// parse arguments that were quoted for a program:
//
//   - everything is in quotes, so that & | < > ^ ( ) mean nothing;
//   - a quote is doubled, which cmd.exe and programs both read as one quote;
//   - % cannot be quoted on a command line: it is followed by an empty
//     substring of a variable, so that no name can form;
//   - /v:off keeps ! literal, /d skips AutoRun, /s strips the outermost quotes
//     and nothing else.
//
// A line break or NUL cannot be passed at all and is an error.
func batchLine(shell, exe string, args []string) (string, error) {
	if strings.ContainsAny(exe, "\"%\r\n\x00") {
		return "", fmt.Errorf("run %s: a batch file's path cannot contain quotes, percent signs or line breaks", exe)
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, `"%s" /d /e:on /v:off /s /c ""%s"`, shell, exe)
	for _, a := range args {
		if strings.ContainsAny(a, "\r\n\x00") {
			return "", fmt.Errorf("run %s: argument %q holds a line break, which cmd.exe cannot pass", exe, a)
		}
		sb.WriteString(` "`)
		sb.WriteString(batchArg(a))
		sb.WriteString(`"`)
	}
	sb.WriteString(`"`)
	return sb.String(), nil
}

// batchArg escapes what stands between the quotes. Backslashes before a quote
// are doubled for the program behind the batch file.
func batchArg(a string) string {
	var sb strings.Builder
	slashes := 0
	for _, r := range a {
		switch r {
		case '\\':
			slashes++
			sb.WriteRune(r)
			continue
		case '"':
			sb.WriteString(strings.Repeat(`\`, slashes) + `""`)
		case '%':
			sb.WriteString("%%cd:~,%")
		default:
			sb.WriteRune(r)
		}
		slashes = 0
	}
	sb.WriteString(strings.Repeat(`\`, slashes))
	return sb.String()
}
