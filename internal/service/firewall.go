package service

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Ports are what a site's PCs must reach on each other.
type Ports struct {
	Gossip int // UDP and TCP
	Relay  int // TCP, and the one after it
}

// Rule is one command that opens the firewall of this PC, as words.
type Rule []string

// String is the rule as it would be typed.
func (r Rule) String() string {
	words := make([]string, len(r))
	for i, w := range r {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " ")
}

// Apply carries the rules of Open out, in order, and stops at the first that
// fails.
func Apply(ctx context.Context, rules []Rule) error {
	for _, r := range rules {
		if err := r.carryOut(ctx); err != nil {
			return fmt.Errorf("open the firewall with %w", err)
		}
	}
	return nil
}

// TakeBack carries the rules of Close out, all of them: one that was removed by
// hand must not keep the others.
func TakeBack(ctx context.Context, rules []Rule) error {
	var all []error
	for _, r := range rules {
		if err := r.carryOut(ctx); err != nil {
			all = append(all, fmt.Errorf("close the firewall with %w", err))
		}
	}
	return errors.Join(all...)
}

func (r Rule) carryOut(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, r[0], r[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("'%s': %w: %s%s", r, err, strings.Join(strings.Fields(string(out)), " "), firewallAdvice)
	}
	return nil
}
