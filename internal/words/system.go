package words

import "strings"

// Choose returns the language that LANG_UI names; "auto", or nothing, is the
// system's, as the environment has it on Linux.
func Choose(setting string, getenv func(string) string) Lang {
	for _, l := range []Lang{English, Chinese} {
		if strings.EqualFold(setting, l.String()) {
			return l
		}
	}
	return ofTag(systemTag(getenv))
}

// ofTag is the language of a tag of the system, such as zh-TW, zh_TW.UTF-8 or
// zh-Hant-TW. Simplified Chinese is another language, and not ours.
func ofTag(tag string) Lang {
	tag = strings.ToLower(strings.ReplaceAll(tag, "_", "-"))
	tag, _, _ = strings.Cut(tag, ".")
	tag, _, _ = strings.Cut(tag, "@")
	if tag == "zh-tw" || tag == "zh-hk" || tag == "zh-mo" || strings.HasPrefix(tag, "zh-hant") {
		return Chinese
	}
	return English
}
