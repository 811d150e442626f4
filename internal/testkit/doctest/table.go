// Package doctest reads the table of broken set-ups in docs/doctor.md, so that
// the tests expect exactly what the documentation promises. Imported by tests
// only.
package doctest

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/convertfw/floatrelay/internal/doctor"
)

// Row is one broken set-up. In Says and Do, "…" stands for any text.
type Row struct {
	Broken string // what was broken; the name of the test
	Check  string
	Level  doctor.Level
	Says   string
	Do     string
	Shown  string // how the row is shown, one of the constants below
}

// How a row is shown.
const (
	Real  = "real"  // the thing itself is broken, on the machine of the test
	Fault = "fault" // a share that misbehaves on purpose
	Told  = "told"  // only what the daemon or the system answers is made up
	Sites = "e2e"   // real PCs in network namespaces, a real Samba or a disk of its own
)

// Read returns the rows of the table in a file, by what was broken.
func Read(path string) (map[string]Row, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the table of broken set-ups: %w", err)
	}
	rows := map[string]Row{}
	for _, line := range strings.Split(string(b), "\n") {
		c := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || len(c) != 5 {
			continue
		}
		check, level, found := strings.Cut(strings.Trim(strings.TrimSpace(c[1]), "`"), " ")
		if !found || doctor.Level(level) != doctor.Failure && doctor.Level(level) != doctor.Warning {
			continue // headings, other tables
		}
		r := Row{Broken: strings.TrimSpace(c[0]), Check: check, Level: doctor.Level(level), Says: cell(c[2]), Do: cell(c[3]), Shown: strings.TrimSpace(c[4])}
		if _, twice := rows[r.Broken]; twice {
			return nil, fmt.Errorf("read the table of broken set-ups: %q stands twice", r.Broken)
		}
		rows[r.Broken] = r
	}
	return rows, nil
}

// cell takes the code marks and the escapes of a table off.
func cell(s string) string {
	return strings.ReplaceAll(strings.Trim(strings.TrimSpace(s), "`"), `\|`, "|")
}

// Judge returns an error unless the report names the row's cause, word for word,
// and no other check failed.
func (r Row) Judge(report doctor.Report) error {
	named := false
	for _, x := range report.Results {
		switch {
		case x.Check == r.Check && x.Level == r.Level && fits(r.Says, x.Text) && fits(r.Do, x.Do):
			named = true
		case x.Level == doctor.Failure && x.Check != r.Check:
			return fmt.Errorf("%q: %s failed too: %s", r.Broken, x.Check, x.Text)
		}
	}
	if !named {
		return fmt.Errorf("%q: nobody says %q (%s %s) and %q: %+v", r.Broken, r.Says, r.Check, r.Level, r.Do, bad(report))
	}
	return nil
}

// bad leaves out what is right.
func bad(report doctor.Report) (out []doctor.Result) {
	for _, x := range report.Results {
		if x.Level != doctor.OK {
			out = append(out, x)
		}
	}
	return out
}

func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`).MatchString(text)
}
