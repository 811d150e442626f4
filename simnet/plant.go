package simnet

import (
	"fmt"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// Things that somebody without the site's token puts into the chain's folder, by
// mistake or on purpose. None of them proves anything.
const (
	Garbage  = "noise"   // ten bytes that are no record
	Newer    = "newer"   // claims a newer format, in seven bytes
	NoRecord = "empty"   // a name without a body
	Stranger = "foreign" // a well-made record of another KMSN
)

// planted returns the body of a planted file.
func (w *World) planted(what, share string, rev uint64) []byte {
	switch what {
	case Newer:
		return []byte(`{"v":2}`)
	case NoRecord:
		return nil
	case Stranger:
		c, err := lease.NewCodec("0815", "the token of another site")
		if err != nil {
			panic(err) // constants
		}
		b, err := c.Seal(lease.Record{
			Share: share, KMSN: "0815", Station: "X", Rev: rev, Epoch: 3, Owner: lease.ID{Node: strings.Repeat("0", 8) + "-0000-4000-8000-" + strings.Repeat("0", 12), Run: "000000000000"},
			Boot: "boot-x", State: lease.Held, Reason: "takeover", IP: "192.168.9.9", Port: 9530,
			TTL: Defaults.TTL, Fence: Defaults.Fence, LeaseUntil: "20260101000000",
		})
		if err != nil {
			panic(err)
		}
		return b
	}
	return []byte("0123456789")
}

// plant puts a file into a share's chain, unless one of that name is there. It
// returns the file, or nil.
func (w *World) plant(s *share, rev uint64, what string) *file {
	if s.chain == nil || s.chain.live[rev] != nil || rev > lease.MaxRev {
		return nil
	}
	w.story("share: somebody puts %s there as %d", what, rev)
	return s.chain.add(rev, w.planted(what, s.chain.id, rev), w.now)
}

// uproot deletes a planted file.
func (w *World) uproot(s *share, f *file) {
	if s.chain != nil && s.chain.live[f.rev] == f {
		w.story("share: somebody deletes %d", f.rev)
		f.gone = w.now
		delete(s.chain.live, f.rev)
	}
}

// top is the highest name in a share's chain, or 0.
func (s *share) top() (rev uint64) {
	if s.chain != nil {
		for r := range s.chain.live { // a maximum does not depend on the order
			rev = max(rev, r)
		}
	}
	return rev
}

// Plant puts a file into the chain that is no record of this site: at a rev, or,
// if above says so, that far above the newest name.
func (s *Script) Plant(what string, rev uint64) *Script {
	return s.do(fmt.Sprintf("somebody plants %s at %d", what, rev), func() { s.plant(s.shares[0], rev, what) })
}

// PlantAbove puts a file that far above the newest name of the chain.
func (s *Script) PlantAbove(what string, step uint64) *Script {
	return s.do(fmt.Sprintf("somebody plants %s %d above the newest record", what, step), func() {
		s.plant(s.shares[0], s.shares[0].top()+step, what)
	})
}

// Uproot deletes every planted file that is still there.
func (s *Script) Uproot() *Script {
	return s.do("what was planted is deleted", func() {
		sh := s.shares[0]
		if sh.chain == nil {
			return
		}
		for _, f := range sh.chain.files {
			if f.gone == 0 && s.vault.open(sh.chain.id, f.rev, f.body).Kind != lease.Valid {
				s.uproot(sh, f)
			}
		}
	})
}

// RestartAll restarts every daemon and kills whatever runs.
func (s *Script) RestartAll() *Script {
	return s.do("all PCs are switched off and on", func() {
		for _, h := range s.hosts {
			s.crashHost(h)
		}
		for _, h := range s.hosts {
			s.startLater(h, 2*time.Second)
		}
	})
}
