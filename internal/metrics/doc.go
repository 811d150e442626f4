// Package metrics counts what a daemon does and answers /metrics.
//
// It has a registry of its own; nothing is registered globally. It decides
// nothing and changes nothing: it wraps what the arbiter uses (its store, its
// net) and is shown what the arbiter is told. What the daemon knows anyway is
// asked for when somebody scrapes, so that a daemon nobody scrapes pays only
// for counters.
package metrics
