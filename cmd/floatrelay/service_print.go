package main

import (
	"strings"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/service"
)

// planJSON is what service install --print --json prints.
type planJSON struct {
	service.Description
	Firewall []string `json:"firewall,omitempty"` // the commands of --firewall
}

// printPlan prints what install would do, the firewall's rules included.
func (a *app) printPlan(plan service.Plan, in installing, cfg config.Config) error {
	var rules []string
	if in.firewall {
		for _, r := range firewallRules(cfg, false) {
			rules = append(rules, r.String())
		}
	}
	if a.json {
		return a.printJSON(planJSON{service.Describe(plan), rules})
	}
	text := service.Describe(plan).String()
	if len(rules) > 0 {
		text += "\n# firewall\n" + strings.Join(append(rules, ""), "\n")
	}
	return a.print(text)
}
