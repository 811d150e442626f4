package daemon

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/lease"
)

// testament is what a guard needs to release the lease once the daemon is
// gone. It holds the site's secret and therefore travels over the guard's
// stdin only.
type testament struct {
	KMSN     string       `json:"kmsn"`
	Token    string       `json:"token"`           // signs the release
	Other    string       `json:"other,omitempty"` // verifies records too, while the token is being changed
	Dir      string       `json:"dir"`
	Password string       `json:"password,omitempty"`
	Record   lease.Record `json:"record"`
	Tip      uint64       `json:"tip"`
}

// newTestament signs with RELAY_TOKEN_OLD if that is what everybody can verify
// at present.
func newTestament(cfg config.Config, signsOld bool, a arbiter.SetWill) []byte {
	token, other := string(cfg.Token), string(cfg.OldToken)
	if signsOld {
		token, other = other, token
	}
	b, err := json.Marshal(testament{
		KMSN: cfg.KMSN, Token: token, Other: other, Dir: cfg.LeaseDir,
		Password: string(cfg.SMBPassword), Record: a.Record, Tip: a.Tip,
	})
	if err != nil {
		panic("daemon: encode a testament: " + err.Error()) // strings and numbers only
	}
	return b
}

// CarryOutWill is the last will: the guard calls it after its daemon is gone
// and the whole relay tree is dead.
func CarryOutWill(ctx context.Context, payload []byte) error {
	var w testament
	if err := json.Unmarshal(payload, &w); err != nil {
		return fmt.Errorf("read the last will: %w", err)
	}
	codec, err := lease.NewCodec(w.KMSN, w.Token, w.Other)
	if err != nil {
		return fmt.Errorf("read the last will: %w", err)
	}
	share, err := OpenShare(w.Dir, w.Password)
	if err != nil {
		return err
	}
	_, err = lease.Will(ctx, lease.NewChain(share), codec, w.Record, w.Tip)
	return err
}
