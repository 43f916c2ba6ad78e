package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

// A project's file that has mistakes, and that nobody trusted, stops nothing: what
// strangers wrote must not keep a person from their tools. What is understood of it
// counts, and since it may have been there to tighten further, less runs unasked.

// loadPast loads the settings, if need be past mistakes in a project's file.
func (c *command) loadPast(opt config.Options) (*config.Loaded[settings.Config], error) {
	loaded, err := config.Load(settings.Defaults(), opt)
	if err == nil || opt.Project == "" {
		return loaded, err
	}
	opt.PastProject = true
	loaded, again := config.Load(settings.Defaults(), opt)
	if again != nil || loaded.Broken == nil {
		return nil, err // not the project's file alone is to blame, or it is the person's own
	}
	c.broken = &brokenProject{file: opt.Project, err: loaded.Broken}
	return loaded, nil
}

// brokenProject is a project's file with mistakes.
type brokenProject struct {
	file  string
	err   error
	rules []string // of it, which cannot be read
}

func (b *brokenProject) Error() string {
	return fmt.Sprintf("%s has mistakes; what is not understood of it does not count, and protects nothing. Until they are mended and Toolcrib is started anew, only what looks and what your own rules allow runs unasked here: %s", text.ShowLine(b.file), text.ShowLine(b.err.Error()))
}

func (b *brokenProject) Unwrap() error { return b.err }

// bound takes out what cannot be read of the project's rules, and lets nothing run by
// the mode alone but what looks.
func (b *brokenProject) bound(l *settings.Layers) {
	sound := func(p settings.Permissions) settings.Permissions {
		bad := func(rule string) bool { return slices.Contains(b.rules, strings.TrimSpace(rule)) }
		p.Allow, p.Ask, p.Deny = without(p.Allow, bad), without(p.Ask, bad), without(p.Deny, bad)
		all := p.Rules
		p.Rules = nil
		for _, r := range all {
			if !bad(r.Tool) && !bad(r.Own()) {
				p.Rules = append(p.Rules, r)
			}
		}
		return p
	}
	l.Project.Permissions = sound(l.Project.Permissions)
	agents := maps.Clone(l.Project.Agents)
	for name, agent := range agents {
		agent.Permissions = sound(agent.Permissions)
		agents[name] = agent
	}
	l.Project.Agents = agents
	l.BreakProject()
}

func without(list []string, bad func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(list), bad)
}

// projectIsBad notes the rules of the project's file that cannot be read, which shows
// only when all is put together. False: it is not the project's file.
func (c *command) projectIsBad(err error) bool {
	bad, ok := errors.AsType[settings.BadConfig](err)
	if !ok || c.project == "" || c.loaded.Trusted {
		return false
	}
	var rules []string
	for _, rule := range app.BadRules(bad.Unwrap()) {
		if c.broken == nil || !slices.Contains(c.broken.rules, rule) {
			rules = append(rules, rule)
		}
	}
	if len(rules) == 0 {
		return false // or it would be tried for ever
	}
	broken := &brokenProject{file: c.project, err: app.Located(bad.Unwrap(), c.whereIs), rules: rules}
	if c.broken != nil {
		broken.rules = append(broken.rules, c.broken.rules...)
		broken.err = errors.Join(c.broken.err, broken.err)
	}
	c.broken = broken
	return true
}

// whereIs finds the line of a setting by its text; empty: it stands in no file.
func (c *command) whereIs(text string) string {
	paths, _, err := c.paths()
	if err != nil || text == "" {
		return ""
	}
	if c.lines == nil {
		c.lines = []map[string]string{config.FindTexts(c.settings(paths), false), config.FindTexts(c.project, true), config.FindTexts(paths.SystemFile, false)}
	}
	for _, file := range c.lines {
		if at := file[text]; at != "" {
			return at
		}
	}
	return ""
}
