package words

import "golang.org/x/sys/windows"

// systemTag is the language in which Windows shows its own texts to this account.
// A service has the system's.
func systemTag(func(string) string) string {
	tags, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(tags) == 0 {
		return ""
	}
	return tags[0]
}
