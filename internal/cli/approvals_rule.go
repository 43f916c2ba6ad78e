package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/text"
)

// rulesOf are the rules of the settings that would have spared a question. by says
// how wide they are; ByArguments: as narrow as a rule can be. None: no rule says it.
func rulesOf(q *desk.Question, by desk.By) []string {
	ways := q.Ways()
	if q.Text != "" || q.Floor || len(ways) == 0 {
		return nil
	}
	if by == desk.ByArguments {
		by = ways[0]
	}
	switch {
	case !slices.Contains(ways, by):
		return nil
	case by == desk.ByRule:
		return q.Rules
	case by == desk.ByDirectory:
		if strings.ContainsAny(q.Dir, `*?[]{}()\`) { // in a rule they mean something else
			return nil
		}
		var rules []string
		for _, tool := range []string{"edit_file", "write_file", q.Native} {
			if rule := tool + "(" + filepath.ToSlash(q.Dir) + "/**)"; !slices.Contains(rules, rule) {
				rules = append(rules, rule)
			}
		}
		return rules
	case by == desk.ByTool:
		// Always with the box: a bare name, and box__tool, mean tools of ours, and the
		// tools of a project, of the bus or of saved code may be called like one.
		return []string{q.Box + "/" + q.Native}
	case by == desk.ByServer:
		if effects := q.Effects.All(); effects != toolcrib.Effects(0).All() { // no more than was asked about
			return []string{q.Box + "/* + effects:" + effects.String()}
		}
		return []string{q.Box + "/*"}
	}
	return nil
}

// allowByRule writes the rules that questions become, and then allows them once.
func (c *command) allowByRule(ctx context.Context, names []string, by desk.By) error {
	loaded, _, err := c.load()
	if err != nil {
		return err
	}
	return c.withDesk(ctx, func(d *desk.Desk) error {
		me, err := c.caller("cli", "")
		if err != nil {
			return err
		}
		var list []desk.Question
		var m many
		if list, err = m.questions(ctx, d, names); err != nil {
			return err
		}
		for i := range list {
			q := &list[i]
			rules := rulesOf(q, by)
			if len(rules) == 0 {
				return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: q.ID + " cannot become a rule: " + noRule(q) + "; nothing was changed"}
			}
			if q.Caller.Subject != me.Subject || q.Caller.Organisation != me.Organisation {
				return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: q.ID + " was asked by " + text.ShowLine(q.Caller.Subject) + ", who is somebody else than you, and a rule is for everybody; remember the answer instead, with --project or --always"}
			}
			if _, own := loaded.User.Agents[q.Caller.Agent]; q.Caller.Agent != "" && !own {
				return &toolcrib.Error{Code: toolcrib.CodeConflict, Message: q.ID + " was asked for the agent " + q.Caller.Agent + ", which your own configuration does not have, and a rule for everybody would be more than was asked; remember the answer instead, with --project or --always"}
			}
		}
		was := c.agent
		defer func() { c.agent = was }()
		var written []string
		for i := range list {
			c.agent = list[i].Caller.Agent
			for _, rule := range rulesOf(&list[i], by) {
				if slices.Contains(written, c.agent+"\n"+rule) {
					continue
				}
				if err := c.policyChange(ctx, toolcrib.Allow, []string{rule}); err != nil {
					return err
				}
				written = append(written, c.agent+"\n"+rule)
			}
		}
		return c.settle(ctx, d, list, desk.Reply{Choice: desk.AllowOnce})
	})
}

// noRule says why a question cannot become a rule.
func noRule(q *desk.Question) string {
	switch {
	case q.Text != "":
		return "it is a tool's own question"
	case q.Floor:
		return "it is of the kind that is asked every time"
	case len(q.Ways()) == 0:
		return "no rule says what it would do; 'toolcrib policy allow RULE' takes one in your own words"
	}
	return "it can become one by other means: 'toolcrib approvals show " + q.ID + "' lists them"
}
