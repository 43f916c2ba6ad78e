// Package namecheck finds names in the settings that mean no tool: most often a
// misspelt one, and a deny that denies nothing. It compares names and changes
// nothing. The wiring in internal/app imports it.
package namecheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Unmatched is a name in the settings that means no tool.
type Unmatched struct {
	Where string `json:"where"`
	Text  string `json:"-"` // as it is written there
	// Unknown: nobody can tell yet, because it is about a server that was never
	// listed or is not set up here.
	Unknown bool   `json:"unknown_yet,omitempty"`
	Why     string `json:"why"`
}

func (u Unmatched) String() string { return u.Where + " " + u.Why }

// Check is what there is, to hold the settings against.
type Check struct {
	Config settings.Config
	Rules  []policy.Mention // what the rules name
	Boxes  []string         // the names of boxes of ours, in use or not
	Own    []string         // those of them that are part of the program
	Bare   []string         // those of them whose tools an allow by a bare name means
	// Clients are programs whose own tools are judged by hooks: their tools go by these
	// names in rules and in the journal, and are on no shelf.
	Clients []string
	Shelf   toolcrib.Contents
	Tools   []toolcrib.Entry                         // what is on the shelves
	Unused  func(context.Context) []toolcrib.Toolbox // boxes of ours that are not in use
	Hub     *mcphub.Hub                              // nil: there are no MCP servers
	Meta    toolcrib.Toolbox                         // tools about the servers
}

// busBox has the tools of other hosts on the bus.
const busBox = "ovosbox"

// maxTold is how many names are told of one setting: a project's file may have many, and
// looking for what was meant by each takes long.
const maxTold = 20

// Unmatched lists the names in the settings that mean no tool, whoever may use
// it, be it switched off or not.
func (c *Check) Unmatched(ctx context.Context) []Unmatched {
	mentions := c.mentions()
	specs := c.Tools
	out := unfit(mentions, specs)
	left := slices.DeleteFunc(mentions, func(m policy.Mention) bool {
		return slices.ContainsFunc(specs, func(s toolcrib.Entry) bool { return m.Means(&s) })
	})
	servers := c.serverMentions()
	if len(left) == 0 && len(servers) == 0 {
		return out
	}
	w := c.whole(ctx)
	told, more := map[string]int{}, map[string]int{}
	for _, m := range left {
		key, _, _ := strings.Cut(m.Where, ": ")
		if told[key] >= maxTold {
			more[key]++
			continue
		}
		if u, bad := w.judge(&m); bad {
			told[key]++
			u.Text = m.Text
			out = append(out, u)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(more)) {
		out = append(out, Unmatched{Where: key, Why: fmt.Sprintf("has %d more names that match no tool in use; they were not looked at", more[key])})
	}
	for _, s := range servers {
		if u, bad := w.judgeServer(s); bad {
			u.Text = s.name
			out = append(out, u)
		}
	}
	return out
}

// mentions are all places of the settings that name tools of any box.
func (c *Check) mentions() []policy.Mention {
	out, cfg := slices.Clone(c.Rules), &c.Config
	add := func(where string, words ...string) {
		for _, word := range words {
			if s, err := policy.ParseSelector(word); err == nil { // else it was told already
				out = append(out, policy.MentionOf(where+": "+word, s))
			}
		}
	}
	include := func(where string, words []string) {
		for _, word := range words {
			if s, err := policy.ParseSelector(word); err == nil {
				out = append(out, policy.InclusionOf(where+": "+word, s, c.Own))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Profiles)) {
		include("profiles."+name+".include", cfg.Profiles[name].Include)
		add("profiles."+name+".exclude", cfg.Profiles[name].Exclude...)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Organisations)) {
		add("organisations."+name+".tools", cfg.Organisations[name].Tools...)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Tokens)) {
		include("tokens."+name+".enabled_tools", cfg.Tokens[name].EnabledTools)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		add("agents."+name+".assigned_tools", cfg.Agents[name].Tools...)
	}
	for i, b := range cfg.Bounds.Budgets {
		add(fmt.Sprintf("bounds.budgets[%d].for.tools", i), b.For.Tools...)
	}
	add("bounds.prices", slices.Sorted(maps.Keys(cfg.Bounds.Prices))...)
	add("bounds.retry.tools", slices.Sorted(maps.Keys(cfg.Bounds.Retry.Tools))...)
	add("bounds.timeouts", slices.Sorted(maps.Keys(cfg.Bounds.Timeouts))...)
	add("bounds.loops.except", cfg.Bounds.Loops.Except...)
	for _, name := range slices.Sorted(maps.Keys(cfg.Safety.Hooks)) {
		add("safety.hooks."+name+".tools", cfg.Safety.Hooks[name].Tools...)
	}
	boxes := c.allBoxes()
	label := func(where string, words []string) {
		for _, word := range words {
			if !slices.Contains(boxes, word) { // a bare word may be a box here
				add(where, word)
			}
		}
	}
	label("safety.labels", slices.Sorted(maps.Keys(cfg.Safety.Labels)))
	label("safety.add_labels", slices.Sorted(maps.Keys(cfg.Safety.AddLabels)))
	return out
}

// allBoxes are the boxes there are, or could be.
func (c *Check) allBoxes() []string {
	names := slices.Concat(c.Boxes, slices.Sorted(maps.Keys(c.Config.MCPServers)), slices.Sorted(maps.Keys(c.Config.OpenAPI)))
	if c.Hub != nil {
		for _, b := range c.Hub.Boxes() {
			names = append(names, b.Name())
		}
	}
	return names
}

// serverMention is a name of one server's own settings.
type serverMention struct{ server, key, name string }

func (c *Check) serverMentions() []serverMention {
	var out []serverMention
	for _, server := range slices.Sorted(maps.Keys(c.Config.MCPServers)) {
		s := c.Config.MCPServers[server]
		if s.Disabled {
			continue
		}
		for key, names := range map[string][]string{"enabled_tools": s.EnabledTools, "disabled_tools": s.DisabledTools, "effects": slices.Collect(maps.Keys(s.Effects))} {
			for _, name := range names {
				out = append(out, serverMention{server, key, name})
			}
		}
	}
	slices.SortFunc(out, func(a, b serverMention) int {
		return strings.Compare(a.server+"\x00"+a.key+"\x00"+a.name, b.server+"\x00"+b.key+"\x00"+b.name)
	})
	return out
}

// whole is every tool that there could be: boxes that are switched off, tools
// that are disabled and definitions that wait for a person have names too.
type whole struct {
	specs    []toolcrib.Entry
	names    []string
	boxes    []string
	offers   map[string][]string // by server, those that were listed
	unlisted []string            // servers that were not
	clients  []string
	bare     []string
	tools    settings.Tools
}

func (c *Check) whole(ctx context.Context) *whole {
	cfg := &c.Config
	w := &whole{boxes: c.allBoxes(), clients: c.Clients, bare: c.Bare, offers: map[string][]string{}, tools: cfg.Tools}
	s := c.Shelf
	s.Boxes, s.Disable, s.Absent = slices.Clone(s.Boxes), nil, nil
	s.Boxes = append(s.Boxes, c.Unused(ctx)...)
	if c.Hub != nil {
		s.Boxes = append(s.Boxes, c.Meta)
		for _, b := range c.Hub.Boxes() {
			names, listed := b.Known()
			if !listed {
				w.unlisted = append(w.unlisted, b.Name())
				continue
			}
			w.offers[b.Name()] = names
			s.Qualify = append(s.Qualify, b.Name())
			s.Boxes = append(s.Boxes, NamesOnly(b.Name(), "mcp", names))
		}
	}
	for server, settings := range cfg.MCPServers {
		if settings.Disabled {
			w.unlisted = append(w.unlisted, server)
		}
	}
	for name := range cfg.OpenAPI { // switched off, or not fetched yet
		if !slices.ContainsFunc(c.Shelf.Boxes, func(b toolcrib.Toolbox) bool { return b.Name() == name }) {
			w.unlisted = append(w.unlisted, name)
		}
	}
	if cfg.Toolboxes.OvosBox.Enabled {
		w.unlisted = append(w.unlisted, busBox) // its hosts come and go
	}
	shelves := toolcrib.Crib{Catalog: &toolcrib.Catalog{}}
	shelves.Catalog.Load(ctx, s) // what cannot be used was told when it was loaded in earnest
	w.specs = slices.Collect(shelves.Tools(toolcrib.Caller{}))
	for i := range w.specs {
		w.names = append(append(w.names, w.specs[i].Name), w.specs[i].Names()...)
	}
	return w
}

// NamesOnly is a box that has tools by name and can do nothing.
func NamesOnly(box, group string, names []string) toolcrib.Toolbox {
	var tools []toolcrib.Tool
	for _, name := range names {
		tools = append(tools, toolcrib.Tool{Spec: toolcrib.Spec{Name: name, Group: group}, Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			return nil, errors.New("this tool is only a name")
		}})
	}
	return toolcrib.NewBox(box, tools...)
}
