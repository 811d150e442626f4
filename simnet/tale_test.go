package simnet

import (
	"bytes"
	"strings"
	"time"
)

const ms = time.Millisecond

// tale is a scripted world that leads straight to a hole which was found once
// and closed. The search reaches such a corner rarely, and its seeds drift with
// every change of the machine; a tale goes there every time. What its story must
// contain shows that it did.
type tale struct {
	name    string
	script  func() *Script
	until   time.Duration
	reached []string // lines that the story must contain
	relays  int      // how many relays the site needs, or 0 if that does not matter
	mutants []string // deliberate breakages that it must catch
}

// tell lets the tale happen and returns its story and the promise it broke.
func (x tale) tell(s *Script) (string, error) {
	var story bytes.Buffer
	s.Trace(Story, &story)
	err := s.Run(x.until)
	if err == nil && x.relays != 0 && s.stats.Relays != x.relays {
		s.fail("relays", "%d relays were started, the site needed %d", s.stats.Relays, x.relays)
		err = s.failed
	}
	return story.String(), err
}

// missed returns the situations that a story did not reach.
func (x tale) missed(story string) (missed []string) {
	for _, line := range x.reached {
		if !strings.Contains(story, line) {
			missed = append(missed, line)
		}
	}
	return missed
}
