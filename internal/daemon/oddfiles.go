package daemon

import "github.com/convertfw/floatrelay/lease"

// oddMost bounds how many texts are remembered as said.
const oddMost = 64

// oddFiles says once of each thing on the share that it is no file of ours: a
// link, a FIFO, a folder where a file belongs.
type oddFiles struct {
	say  func(text string)
	said map[string]bool
}

// note says what err tells of odd files; of anything else it says nothing.
func (o *oddFiles) note(err error) {
	text := lease.IrregularCause(err)
	if text == "" || o.said[text] {
		return
	}
	if o.said == nil || len(o.said) == oddMost {
		o.said = map[string]bool{}
	}
	o.said[text] = true
	o.say(text)
}
