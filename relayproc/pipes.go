package relayproc

import (
	"fmt"
	"os"
)

// pipes are the three connections between daemon and guard. The relay writes
// straight into the third, past the guard.
type pipes struct {
	inR, inW   *os.File
	outR, outW *os.File
	errR, errW *os.File
}

func openPipes() (*pipes, error) {
	p := &pipes{}
	for _, pair := range [][2]**os.File{{&p.inR, &p.inW}, {&p.outR, &p.outW}, {&p.errR, &p.errW}} {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeAll()
			return nil, fmt.Errorf("open pipe: %w", err)
		}
		*pair[0], *pair[1] = r, w
	}
	return p, nil
}

func (p *pipes) closeTheirs() { closeFiles(p.inR, p.outW, p.errW) }
func (p *pipes) closeOurs()   { closeFiles(p.inW, p.outR, p.errR) }
func (p *pipes) closeAll()    { p.closeTheirs(); p.closeOurs() }

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
