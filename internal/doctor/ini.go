package doctor

import (
	"context"
	"errors"

	"github.com/convertfw/floatrelay/internal/config"
)

const askTemplate = "correct the line; 'floatrelay config --template' shows every key and what is allowed"

func (in Input) checkINI(_ context.Context, tell Tell) {
	var problems config.Problems
	switch {
	case errors.Is(in.LoadErr, config.ErrNotFound):
		tell.Fail("make one with 'floatrelay config --template', or name it with --config", "%v", in.LoadErr)
	case errors.As(in.LoadErr, &problems) && in.Loaded != nil:
		for _, p := range problems {
			tell.Fail(askTemplate, "%v", p)
		}
	case in.LoadErr != nil:
		tell.Fail("check that the file is there and that this account may read it", "%v", in.LoadErr)
	default:
		cfg := in.Loaded.Config
		tell.OK("%s (%s): %d settings, all allowed", in.Path, in.Loaded.Encoding, len(in.Loaded.Values))
		tell.OK("site %s, station %s, token fingerprint %s: the site and the fingerprint must be the same on every PC",
			cfg.KMSN, cfg.Station, cfg.TokenPrint())
	}
	if in.Loaded == nil {
		return
	}
	for _, w := range in.Loaded.Warnings {
		if !w.Foreign {
			tell.Warn("see 'floatrelay config --check'", "%v", w)
		}
	}
}
