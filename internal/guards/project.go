package guards

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// ProjectCheck gives a function that says what is wrong with one part of a project's
// file: a rule, a budget, a price, a name. Part by part, so that a mistake takes nothing
// with it. Cfg is the settings without that file, own the toolboxes of the program, dir
// where relative names begin.
func ProjectCheck(cfg settings.Config, own []string, dir, home string) func(key, name string, value any) error {
	rules := policy.RuleCheck{Options: policy.RuleOptions{
		Own: own, Known: cfg.KnownNames(), Base: dir, Home: home,
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
				return settings.CheckProtected(home, v)
			}
		case policy.Condition:
			return rules.Check(v)
		case settings.SafetyBudget:
			return checkBudget(v)
		case float64:
			if key == "bounds.prices" {
				return checkPrice(name, v)
			}
		case []string:
			if key == "safety.add_labels" {
				_, err := policy.NewLabelTable(policy.LabelOptions{Own: own, Add: map[string][]string{name: v}})
				return err
			}
		}
		return nil
	}
}
