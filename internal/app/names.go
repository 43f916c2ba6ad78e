package app

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/clienthook"
	"github.com/toolcrib/toolcrib/internal/coding"
	"github.com/toolcrib/toolcrib/internal/mcp/shelf"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/namecheck"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// ToolNamed finds a tool by any of its names.
func (a *App) ToolNamed(caller toolcrib.Caller, name string) (toolcrib.Entry, error) {
	return namecheck.ToolNamed(a.Crib, caller, name, a.Hidden)
}

// TypedName is the name by which people are shown a tool: it can be typed into rules and
// wherever else a name is asked for.
func (a *App) TypedName(spec toolcrib.Entry) string { return policy.TypedName(&spec, a.bare()) }

// Mistakes counts what was left out by a mistake of the settings. A server that was
// never listed is none.
func (a *App) Mistakes() (n int) {
	for _, f := range a.Faults {
		if !Unlisted(f) {
			n++
		}
	}
	return n
}

// Unlisted says that nobody knows yet what a box has: it is no mistake.
func Unlisted(f toolcrib.LoadError) bool { return errors.Is(f.Err, mcphub.ErrUnlisted) }

// Unmatched lists the names in the settings that mean no tool, whoever may use
// it, be it switched off or not. Where finds the line of a text in the settings; nil:
// nobody does.
func (a *App) Unmatched(ctx context.Context, where func(setting, text string) string) []namecheck.Unmatched {
	check := namecheck.Check{
		Config: *a.settings.Load(), Boxes: boxNames(), Own: a.own, Bare: a.bare(), Clients: clienthook.Clients(), Shelf: a.APIs.Shelve(a.shelving), Tools: a.Specs(), Unused: a.unused, Hub: a.Hub, Meta: a.meta,
	}
	if p := a.policy.live.Policy(); p != nil { // a catalog that is only shown has none
		check.Rules = p.Rules.Mentions()
	}
	list := check.Unmatched(ctx)
	for i := range list {
		if where == nil {
			break
		}
		if at := where(list[i].Where, list[i].Text); at != "" {
			list[i].Where = at + ": " + list[i].Where
		}
	}
	return list
}

// Located is an error about rules with the lines that they stand in.
func Located(err error, where func(setting, text string) string) error {
	said := []string{err.Error()}
	for _, text := range BadRules(err) {
		if at := where("", text); at != "" {
			said = append(said, text+" stands in "+at)
		}
	}
	return errors.New(strings.Join(said, "; "))
}

// BadRules are the texts of the rules that an error is about, each once.
func BadRules(err error) (out []string) {
	for _, bad := range policy.RuleErrors(err) {
		if !slices.Contains(out, bad.Text) {
			out = append(out, bad.Text)
		}
	}
	return out
}

// unused lists the boxes of ours that are not in use. They are asked for their
// tools and closed.
func (a *App) unused(ctx context.Context) []toolcrib.Toolbox {
	aside := &App{Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Log: a.Crib.Log}, reach: a.reach, chains: a.chains, launcher: a.launcher, toolsDir: a.toolsDir}
	out := []toolcrib.Toolbox{namecheck.NamesOnly(models.Box, models.Box, []string{models.Tool})} // on shelves of its own
	for _, k := range aside.kinds(*a.settings.Load()) {
		if slices.ContainsFunc(a.shelving.Boxes, func(b toolcrib.Toolbox) bool { return b.Name() == k.name }) {
			continue
		}
		switch k.name {
		case "skill": // it has these where there are skills
			out = append(out, namecheck.NamesOnly(k.name, k.name, []string{"list_skills", "use_skill", "read_skill_file", "run_skill"}))
			continue
		case shelf.AgentsBox, "ovosbox", ownTools, projectTools: // what they have is in files
			continue
		}
		if known, ok := coding.Known()[k.name]; ok { // they need programs, and nothing runs here
			out = append(out, namecheck.NamesOnly(k.name, known.Group, known.Tools))
			continue
		}
		box, err := k.open(ctx)
		if err != nil {
			continue
		}
		out = append(out, box)
		if c, ok := box.(io.Closer); ok {
			_ = c.Close() // nothing was started in it
		}
	}
	return out
}
