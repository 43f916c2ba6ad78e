package policy

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Claims is a list of tools that a text says it needs, such as the allowed-tools of a
// skill. It is a claim and allows nothing: it is only asked what lies outside of it.
type Claims struct {
	// Left is what of the list means no tool here.
	Left  []Left
	rules *Rules
}

// Claims reads such a list in the names of Claude Code (Read, Bash(git:*)), of other
// systems that are known here (file_read), and ours (read_file, run_command(git *)).
func (r *Rules) Claims(texts []string) *Claims {
	im := &importer{opt: RuleOptions{Conditions: &Conditions{}}}
	if r != nil {
		im.opt = r.opt
	}
	for _, text := range texts {
		if name, _, _ := strings.Cut(text, "("); claudeTools(strings.TrimSpace(name)) != nil || strings.HasPrefix(name, "mcp__") {
			im.claudeRule(toolcrib.Allow, "allowed-tools", text)
			continue
		}
		im.addRule(toolcrib.Allow, "allowed-tools", text, Condition{Tool: text})
	}
	c := &Claims{Left: im.Left}
	var err error
	if c.rules, err = NewRules([]Layer{{Rank: RankUser, Source: "allowed-tools", Permissions: im.Permissions}}, im.opt); err != nil {
		c.rules = nil // then nothing is inside of it
	}
	return c
}

// Has reports whether a call is among what the list names. What nobody can tell is not.
func (c *Claims) Has(r *toolcrib.Review) bool {
	said := c.rules.judge(r, nil)
	if said.rule != nil && said.decision == toolcrib.Allow {
		return true
	}
	return said.subject != nil && said.subject.lines && c.hasLine(said.subject)
}

// hasLine: each program of the line is named. Harmless ones are no exception here, where
// nothing is allowed and only what was named counts.
func (c *Claims) hasLine(s *subject) bool {
	line := s.commandLine()
	if line == nil || len(line.Unknown) > 0 || len(line.Programs) == 0 {
		return false
	}
	for i := range line.Programs {
		named := slices.ContainsFunc(c.rules.layers, func(l *layer) bool {
			return slices.ContainsFunc(l.allow.all, func(a *permission) bool {
				return a.single() && a.command.Rule.Match(&line.Programs[i]) && a.names(s)
			})
		})
		if !named {
			return false
		}
	}
	return true
}
