package doctor

import "fmt"

// Level says how bad a finding is.
type Level string

// The levels. Only a Failure makes the doctor's exit code 1.
const (
	OK      Level = "ok"
	Warning Level = "warning" // works, or may be wanted, but somebody should look
	Failure Level = "failure" // this PC cannot lead, or cannot take part
)

// Result is one finding.
type Result struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Do    string `json:"do"` // what to do about it; empty if OK
}

// Report is what all checks found, in the order of the checks.
type Report struct {
	OK       bool     `json:"ok"` // no failure
	Failures int      `json:"failures"`
	Warnings int      `json:"warnings"`
	Results  []Result `json:"results"`
}

func newReport(results []Result) Report {
	r := Report{Results: results}
	for _, x := range results {
		switch x.Level {
		case Failure:
			r.Failures++
		case Warning:
			r.Warnings++
		}
	}
	r.OK = r.Failures == 0
	return r
}

// Tell collects the findings of one check. It must not be used after the
// check's Run returned.
type Tell struct {
	add func(Level, string, string)
}

// OK tells that something is right.
func (t Tell) OK(format string, args ...any) { t.add(OK, fmt.Sprintf(format, args...), "") }

// Warn tells of something to look at, and what to do.
func (t Tell) Warn(do, format string, args ...any) { t.add(Warning, fmt.Sprintf(format, args...), do) }

// Fail tells of something that does not work, and what to do.
func (t Tell) Fail(do, format string, args ...any) { t.add(Failure, fmt.Sprintf(format, args...), do) }
