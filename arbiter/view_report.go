package arbiter

import "context"

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
		d.cfg.Report(true, "clients that read relay_leader.json are not told of this relay, trying again: "+err.Error())
		return
	}
	d.cfg.Report(false, "relay_leader.json is published again")
}
