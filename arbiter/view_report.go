package arbiter

import (
	"context"

	"github.com/convertfw/floatrelay/internal/reason"
)

// reportView says once that clients cannot be told of the relay, and once that
// they can be again. The lease does not depend on it: the publication is simply
// repeated. Only the one publication under way calls it.
func (d *Driver) reportView(ctx context.Context, err error) {
	failed := err != nil
	if failed == d.hidden || ctx.Err() != nil {
		return
	}
	d.hidden = failed
	if failed {
		d.cfg.Report(Report{Warn: true, Reason: reason.Reason{Code: reason.ViewFails, Detail: err.Error()}})
		return
	}
	d.cfg.Report(Report{Reason: reason.Reason{Code: reason.ViewBack}})
}
