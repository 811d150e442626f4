package config

import "strings"

// rowD is one field case: a file, what to look at, and why readers differ. The
// comparison in docs/configuration.md is made from these rows.
type rowD struct {
	id, what string
	raw      string
	keys     []string // what the comparison shows
	why      string
}

var rowsD = []rowD{
	{"D01", "backslash at the end of a line", "[relay]\r\nLEASE_DIR=W:\\socket\\\r\nRELAY_TOKEN=abc\r\n",
		[]string{"LEASE_DIR", "RELAY_TOKEN"}, "ini.v1 takes it for a continuation and swallows the next key"},
	{"D02", "two backslashes", "[relay]\r\nLEASE_DIR=W:\\socket\\\\\r\nRELAY_TOKEN=abc\r\n",
		[]string{"LEASE_DIR", "RELAY_TOKEN"}, "the same; a doubled backslash is not an escape for it"},
	{"D02", "UNC path with a trailing backslash", "[relay]\r\nLEASE_DIR=\\\\server\\share\\\r\nRELAY_TOKEN=abc\r\n",
		[]string{"LEASE_DIR", "RELAY_TOKEN"}, "the same"},
	{"D03", "Big5 character whose second byte is a backslash, at the end", "[relay]\r\nSTATION=\xA5\x5C\r\nRELAY_TOKEN=abc\r\n",
		[]string{"STATION", "RELAY_TOKEN"}, "ini.v1 does not decode, so the second byte of 功 continues the line"},
	{"D04", "such characters inside values", "STATION=\xB3\x5C\xA5\x5C\xBB\x5C\r\nLEASE_DIR=W:\\\xB3\x5C\xA5\x5C\xBB\x5C\\socket\\\r\nRELAY_TOKEN=abc\r\n",
		[]string{"STATION", "LEASE_DIR", "RELAY_TOKEN"}, "the same"},
	{"D05", "user-defined pair 0x835C", "STATION=\x83\x5C\r\nRELAY_TOKEN=abc\r\n",
		[]string{"STATION", "RELAY_TOKEN"}, "read as Windows does (U+F00E), with a warning"},
	{"D05", "裏, in cp950 only", "STATION=\xF9\xD8\r\nRELAY_TOKEN=abc\r\n",
		[]string{"STATION", "RELAY_TOKEN"}, "decoded with the table of cp950"},
	{"D05", "lone lead byte at the end of the file", "RELAY_TOKEN=abc\r\nSTATION=A\xB3",
		[]string{"STATION", "RELAY_TOKEN"}, "a bad byte becomes U+FFFD with a warning that names the line"},
	{"D06", "UTF-8 BOM", "\xEF\xBB\xBF[relay]\r\nLEASE_TTL=15",
		[]string{"LEASE_TTL"}, "no difference"},
	{"D07", "UTF-16 with BOM (Notepad \"Unicode\")", "\xFF\xFE[\x00r\x00]\x00\r\x00\n\x00A\x00=\x001\x00\r\x00\n\x00",
		[]string{"A"}, "decoded first"},
	{"D08", "# and ; in a secret", "RELAY_TOKEN=ab#cd;ef\r\n",
		[]string{"RELAY_TOKEN"}, "ini.v1 cuts at the first of them; text is literal here"},
	{"D08", "; and # in a secret", "RELAY_TOKEN=ab;cd#ef\r\n",
		[]string{"RELAY_TOKEN"}, "the same; Harbour gives ab;cd, so avoid both signs in tokens"},
	{"D09", "comment behind a number", "LEASE_TTL=15 ; seconds\r\n",
		[]string{"LEASE_TTL"}, "no difference: numbers may be followed by a comment"},
	{"D09", "the same with a tab and #", "LEASE_TTL=15\t#s\r\n",
		[]string{"LEASE_TTL"}, "no difference"},
	{"D10", "double quotes", "RELAY_TOKEN=\"abc\"\r\n",
		[]string{"RELAY_TOKEN"}, "ini.v1 and Windows strip them; they are a part of the value here, as in Harbour, with a warning"},
	{"D10", "single quotes", "RELAY_TOKEN='abc'\r\n",
		[]string{"RELAY_TOKEN"}, "the same"},
	{"D10", "one quote", "RELAY_TOKEN=\"abc\r\n",
		[]string{"RELAY_TOKEN"}, "no difference, with a warning"},
	{"D11", "value that starts with a back-quote", "RELAY_TOKEN=`abc\r\nSTATION=A\r\n",
		[]string{"RELAY_TOKEN", "STATION"}, "ini.v1 looks for the closing one on later lines and refuses the file"},
	{"D11", "value that starts with \"\"\"", "RELAY_TOKEN=\"\"\"abc\r\nSTATION=A\r\n",
		[]string{"RELAY_TOKEN", "STATION"}, "the same"},
	{"D13", "duplicate keys and sections", "[relay]\nRELAY_HOST=10.0.0.5\nRELAY_HOST=\nLEASE_TTL=15\n[relay]\nLEASE_TTL=16\n",
		[]string{"RELAY_HOST", "LEASE_TTL"}, "an empty duplicate does not erase a value here; both line numbers are warned of"},
	{"D15", "a line of free text", "LEASE_TTL=15\njust a note\nLEASE_RENEW=5\n",
		[]string{"LEASE_TTL", "LEASE_RENEW"}, "ini.v1 refuses the file; skipped here with a warning"},
	{"D15", "//note", "LEASE_TTL=15\n//note\nLEASE_RENEW=5\n",
		[]string{"LEASE_TTL", "LEASE_RENEW"}, "the same"},
	{"D15", "a line of 0x7F", "LEASE_TTL=15\n" + strings.Repeat("\x7F", 8) + "\nLEASE_RENEW=5\n",
		[]string{"LEASE_TTL", "LEASE_RENEW"}, "the same"},
	{"D17", "NUL tail", "RELAY_TOKEN=abc\r\nLEASE_TTL=15\r\n" + strings.Repeat("\x00", 16),
		[]string{"RELAY_TOKEN", "LEASE_TTL"}, "ini.v1 refuses the file; the tail is ignored here with a warning"},
	{"D17", "nothing but NULs", strings.Repeat("\x00", 512),
		[]string{"RELAY_TOKEN"}, "an error in both; never the defaults"},
	{"–", "%(name)s", "KMSN=1\r\nRELAY_TOKEN=x%(KMSN)s\r\n",
		[]string{"RELAY_TOKEN"}, "ini.v1 puts the other key's value in; text is literal here"},
	{"–", "CR as the only line end", "KMSN=1\rRELAY_TOKEN=abc\r",
		[]string{"KMSN", "RELAY_TOKEN"}, "ini.v1 sees one long line"},
	{"–", "DOS end-of-file mark", "RELAY_TOKEN=abc\r\n\x1A",
		[]string{"RELAY_TOKEN"}, "ini.v1 refuses the file; the mark is ignored here"},
	{"–", "\":\" in front of \"=\"", "RELAY_TOKEN:old=abc\r\nLEASE_TTL=15\r\n",
		[]string{"RELAY_TOKEN", "LEASE_TTL"}, "ini.v1 splits at ':' too; only '=' splits here"},
	{"–", "lower-case key", "[Relay]\r\nrelay_token=abc\r\n",
		[]string{"RELAY_TOKEN"}, "ini.v1 minds the case of sections and keys"},
}
