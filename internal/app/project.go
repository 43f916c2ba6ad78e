package app

import (
	"cmp"
	"strings"

	"github.com/toolcrib/toolcrib/internal/guards"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// ProjectCheck gives a function that says what is wrong with one part of a project's
// file: a rule, a budget, a price, a name. Part by part, so that a mistake takes nothing
// with it. Cfg is the settings without that file.
func ProjectCheck(cfg settings.Config, needs Needs) (func(key, name string, value any) error, error) {
	r, err := reach.Of(cfg.Grant, needs.start())
	if err != nil {
		return nil, settings.Bad(err)
	}
	rules := policy.RuleCheck{Options: policy.RuleOptions{
		Own: ownBoxes(needs.Boxes...), Known: cfg.KnownNames(), Base: cmp.Or(r.Base, needs.Dir), Home: needs.Home,
		Resolve: policy.RealPath, Conditions: &policy.Conditions{}, Skips: true,
	}}
	return func(key, name string, value any) error {
		key = strings.TrimPrefix(key, "agents.NAME.")
		switch v := value.(type) {
		case string:
			if decision, ok := strings.CutPrefix(key, "permissions."); ok {
				return rules.Check(policy.Condition{Decision: decision, Tool: v})
			}
			if key == "grant.protected" {
				return reach.CheckProtected(needs.Home, v)
			}
		case policy.Condition:
			return rules.Check(v)
		case settings.SafetyBudget:
			return guards.CheckBudget(v)
		case float64:
			if key == "bounds.prices" {
				return guards.CheckPrice(name, v)
			}
		case []string:
			if key == "safety.add_labels" {
				_, err := policy.NewLabelTable(policy.LabelOptions{Own: ownBoxes(needs.Boxes...), Add: map[string][]string{name: v}})
				return err
			}
		}
		return nil
	}, nil
}
