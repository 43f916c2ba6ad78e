package policy

import (
	"fmt"

	"github.com/toolcrib/toolcrib"
)

// RuleCheck reads the rules of a file one by one, so that a mistake in one takes no
// other with it.
type RuleCheck struct {
	Options RuleOptions

	takes, gives counted
}

// counted is how many rules were sound so far, and how many of them have a condition.
type counted struct{ rules, when int }

// Check says what is wrong with a rule of a project's file. What allows gets a fifth of the
// room that there is: if there is too much, it must not crowd out what takes away.
func (k *RuleCheck) Check(rule Condition) error {
	list, share := &k.takes, 4
	if rule.Decision == toolcrib.Allow.String() {
		list, share = &k.gives, 1
	}
	now := *list
	now.rules++
	if rule.When != "" {
		now.when++
	}
	if now.rules > maxRules*share/5 || now.when > maxWhen*share/5 {
		return fmt.Errorf("there are too many rules: at most %d are taken, and %d with a condition", maxRules, maxWhen)
	}
	if _, err := newLayer(Layer{Rank: RankProject, Permissions: Permissions{Rules: []Condition{rule}}}, &k.Options); err != nil {
		return err
	}
	*list = now
	return nil
}
