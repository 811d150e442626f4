// Package reason names, with stable codes, what a member has to say of the lease,
// its relay and its site: why it may not lead, what is odd, what happened. A
// Reason carries facts only. Package words makes sentences of it, in the reader's
// language, and nobody reads a sentence back: whoever has to decide something
// compares codes.
//
// A code is never renamed and never gets another meaning, because members of other
// versions, programs that read --json, and the history keep it. A reader that does
// not know a code shows it as it is.
package reason

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Code is the stable name of what is said.
type Code string

// Reason is one fact. The fields that a code does not need are empty. Reasons
// can be compared with ==.
type Reason struct {
	Code Code `json:"code"`

	Rev   uint64 `json:"rev,omitempty"`   // record concerned
	Epoch uint64 `json:"epoch,omitempty"` // its epoch
	Count int    `json:"count,omitempty"`
	Of    int    `json:"of,omitempty"` // how many Count is out of, or a limit
	Port  int    `json:"port,omitempty"`
	PID   int    `json:"pid,omitempty"`

	Station  string `json:"station,omitempty"` // the other PC
	Addr     string `json:"addr,omitempty"`    // its address
	Own      string `json:"own,omitempty"`     // this PC's station
	OwnAddr  string `json:"own_addr,omitempty"`
	Share    string `json:"share,omitempty"` // share id of the others, or the new one
	OwnShare string `json:"own_share,omitempty"`
	Found    string `json:"found,omitempty"` // a value that is odd, such as another KMSN
	Want     string `json:"want,omitempty"`  // the value in place of which it stands

	Role string `json:"role,omitempty"` // client, candidate, leader or ineligible
	How  string `json:"how,omitempty"`  // a word of a closed list: reason of a record, outcome, cause of a relay's end

	ForMS int64  `json:"for_ms,omitempty"` // a duration in milliseconds
	At    string `json:"at,omitempty"`     // RFC 3339: when it was
	Next  string `json:"next,omitempty"`   // RFC 3339: when something follows

	Path   string `json:"path,omitempty"`
	Detail string `json:"detail,omitempty"` // what the system or another program said, word for word
}

// For returns the reason with a duration, to the millisecond.
func (r Reason) For(d time.Duration) Reason {
	r.ForMS = d.Milliseconds()
	return r
}

// IsZero reports whether nothing is said.
func (r Reason) IsZero() bool { return r == Reason{} }

// Of returns reasons without further facts.
func Of(codes ...Code) []Reason {
	var out []Reason
	for _, c := range codes {
		out = append(out, Reason{Code: c})
	}
	return out
}

// Text is a line that has no code of its own: it is shown as it is.
func Text(text string) Reason { return Reason{Code: Note, Detail: text} }

// Has reports whether one of the reasons has the code.
func Has(all []Reason, code Code) bool {
	_, ok := Find(all, code)
	return ok
}

// Find returns the first reason with the code.
func Find(all []Reason, code Code) (Reason, bool) {
	for _, r := range all {
		if r.Code == code {
			return r, true
		}
	}
	return Reason{}, false
}

// String is the code with the facts that go with it, for tests and traces.
func (r Reason) String() string {
	b := &strings.Builder{}
	b.WriteString(string(r.Code))
	v := reflect.ValueOf(r)
	for i := 1; i < v.NumField(); i++ {
		if f := v.Field(i); !f.IsZero() {
			fmt.Fprintf(b, " %s=%v", FieldName(i), f)
		}
	}
	return b.String()
}

// FieldName is the name in JSON of the i-th field of a Reason.
func FieldName(i int) string {
	name, _, _ := strings.Cut(reflect.TypeFor[Reason]().Field(i).Tag.Get("json"), ",")
	return name
}
