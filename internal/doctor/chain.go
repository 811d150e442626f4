package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/words"
	"github.com/convertfw/floatrelay/lease"
)

func chainCheck(cfg config.Config, open func() (lease.Share, error)) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		share, err := open()
		if err != nil {
			return // the share check says what is wrong
		}
		chain := lease.NewChain(share)
		list, err := boundedValue(ctx, func() (lease.Listing, error) { return chain.List(ctx) })
		switch {
		case errors.Is(err, lease.ErrIrregular):
			tell.Fail("remove it: nothing is read or written through links", "%s", lease.IrregularCause(err))
			return
		case errors.Is(err, lease.ErrDenied):
			if _, err := boundedValue(ctx, func() ([]string, error) { return share.List(ctx, "") }); err != nil {
				return // not the chain alone: the share check says what is wrong
			}
			tell.Fail("let this account read and write in relay_leader.d and everything below it, as in LEASE_DIR",
				"the chain in %s cannot be read: access denied: %v", share, plain(err))
			return
		case err != nil:
			return // the share check says what is wrong
		case len(list.Shares) > 1:
			tell.Fail("look which PCs use another folder; then remove the folder of the wrong chain",
				"%s holds more than one chain: %s", share, strings.Join(list.Shares, ", "))
			return
		case list.Share == "":
			tell.OK("%s holds no chain yet; the first daemon makes it", share)
			return
		}
		judgeView(ctx, chain, tell)
		for _, name := range list.Strange {
			tell.Warn("remove it if nobody needs it", "%s does not belong into the chain's folder", name)
		}
		head, err := readHead(ctx, cfg, chain, list)
		if errors.Is(err, lease.ErrIrregular) {
			tell.Fail("remove it; the next record is made within half a minute", "%s", lease.IrregularCause(err))
			return
		}
		if err != nil {
			tell.Fail("repeat the check; if it stays, see the share's findings", "cannot read record %d: %v", list.Head(), err)
			return
		}
		judgeHead(cfg, head, list, tell)
	}
}

// bodyFollows is how long a record may be there without its whole body before that
// is a finding: a file server shows a name a moment before what is written into it.
const bodyFollows = time.Second

func readHead(ctx context.Context, cfg config.Config, chain *lease.Chain, list lease.Listing) (lease.Entry, error) {
	codec, err := lease.NewCodec(cfg.KMSN, string(cfg.Token), string(cfg.OldToken))
	if err != nil {
		return lease.Entry{}, fmt.Errorf("prepare to verify records: %w", err)
	}
	for begin := time.Now(); ; {
		body, err := boundedValue(ctx, func() ([]byte, error) { return chain.Read(ctx, list.Share, list.Head()) })
		if err != nil {
			return lease.Entry{}, err
		}
		head := codec.Open(list.Share, list.Head(), body)
		if head.Kind != lease.Unknown || time.Since(begin) > bodyFollows || ctx.Err() != nil {
			return head, nil
		}
		time.Sleep(bodyFollows / 10)
	}
}

func judgeHead(cfg config.Config, head lease.Entry, list lease.Listing, tell Tell) {
	if r := head.Record; head.Kind == lease.Valid {
		tell.OK("chain %s: record %d, epoch %d, %s by %s at %s:%d", list.Share, r.Rev, r.Epoch, r.State, r.Station, r.IP, r.Port)
		return
	}
	lang := words.Choose(cfg.LangUI, os.Getenv)
	for _, r := range arbiter.HeadReasons(list.Share, cfg.KMSN, head) {
		tell.Fail(lang.Cure(r), "%s", lang.Say(r))
	}
}

// judgeView names what is odd with relay_leader.json. Without one there is
// nothing to say: the leader makes it.
func judgeView(ctx context.Context, chain *lease.Chain, tell Tell) {
	odd, _ := boundedValue(ctx, func() (odd []string, _ error) {
		_, odd, err := chain.ReadFloor(ctx)
		switch {
		case err == nil, errors.Is(err, lease.ErrNotExist), errors.Is(err, lease.ErrUnavailable):
		case errors.Is(err, lease.ErrIrregular):
			odd = append(odd, lease.IrregularCause(err))
		default:
			odd = append(odd, err.Error())
		}
		return odd, nil
	})
	for _, text := range odd {
		tell.Warn("find out which program writes there: only the leader's floatrelay should", "%s", text)
	}
}
