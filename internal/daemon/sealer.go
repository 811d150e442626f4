package daemon

import (
	"slices"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
)

// sealer signs records so that everybody at the site can verify them.
//
// While the token is being changed there are members that know only the old
// one. To them a record signed with the new one is unknown: they could not
// vouch for it, and would take over an idle one only after TTL_MAX'. So records
// follow the same switch as gossip: they are signed with RELAY_TOKEN_OLD until
// every live member announces that it reads RELAY_TOKEN. Both are verified all
// the time, so nothing depends on when two members switch.
type sealer struct {
	*lease.Codec              // signs with RELAY_TOKEN
	old          *lease.Codec // signs with RELAY_TOKEN_OLD; nil if there is none
	usesNew      func() bool
}

// newSealer returns the sealer of a configuration. usesNew is asked at each
// record.
func newSealer(cfg config.Config, usesNew func() bool) (*sealer, error) {
	token, old := string(cfg.Token), string(cfg.OldToken)
	fresh, err := lease.NewCodec(cfg.KMSN, token, old)
	if err != nil {
		return nil, err
	}
	s := &sealer{Codec: fresh, usesNew: usesNew}
	if old == "" || old == token {
		return s, nil
	}
	s.old, err = lease.NewCodec(cfg.KMSN, old, token)
	return s, err
}

// Seal signs with the newest token that everybody alive knows.
func (s *sealer) Seal(r lease.Record) ([]byte, error) {
	if s.signsOld() {
		return s.old.Seal(r)
	}
	return s.Codec.Seal(r)
}

func (s *sealer) signsOld() bool { return s.old != nil && !s.usesNew() }

// rotation says how far a change of the token has come.
func (d *Daemon) rotation() *localapi.Rotation {
	if d.codec.old == nil {
		return nil
	}
	r := &localapi.Rotation{Old: d.cfg.OldTokenPrint(), UsesNew: d.gossip.UsesNewToken(), Waiting: []string{}}
	for _, m := range d.gossip.Members() {
		if m.Up() && !m.Self && !slices.Contains(m.Meta.Keys, d.gossip.TokenID()) {
			r.Waiting = append(r.Waiting, m.Meta.Station)
		}
	}
	return r
}
