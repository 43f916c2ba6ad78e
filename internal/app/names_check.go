package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Unmatched is a name in the settings that means no tool.
type Unmatched struct {
	Where string `json:"where"`
	// Unknown: nobody can tell yet, because it is about a server that was never
	// listed or is not set up here.
	Unknown bool   `json:"unknown_yet,omitempty"`
	Why     string `json:"why"`
}

func (u Unmatched) String() string { return u.Where + " " + u.Why }

// Unmatched lists the names in the settings that mean no tool, whoever may use
// it, be it switched off or not.
func (a *App) Unmatched(ctx context.Context) []Unmatched {
	mentions := a.mentions()
	specs := a.Specs()
	left := slices.DeleteFunc(mentions, func(m policy.Mention) bool {
		return slices.ContainsFunc(specs, func(s toolcrib.Spec) bool { return m.Means(&s) })
	})
	servers := a.serverMentions()
	if len(left) == 0 && len(servers) == 0 {
		return nil
	}
	w := a.whole(ctx)
	var out []Unmatched
	for _, m := range left {
		if u, bad := w.judge(&m); bad {
			out = append(out, u)
		}
	}
	for _, s := range servers {
		if u, bad := w.judgeServer(s); bad {
			out = append(out, u)
		}
	}
	return out
}

// mentions are all places of the settings that name tools of any box.
func (a *App) mentions() []policy.Mention {
	var out []policy.Mention
	if p := a.policy.live.Policy(); p != nil { // a catalog that is only shown has none
		out = p.Rules.Mentions()
	}
	cfg := a.settings.Load()
	if cfg == nil {
		return out
	}
	add := func(where string, words ...string) {
		for _, word := range words {
			if s, err := policy.ParseSelector(word); err == nil { // else it was told already
				out = append(out, policy.MentionOf(where+": "+word, s))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Profiles)) {
		add("profiles."+name+".include", cfg.Profiles[name].Include...)
		add("profiles."+name+".exclude", cfg.Profiles[name].Exclude...)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Organisations)) {
		add("organisations."+name+".tools", cfg.Organisations[name].Tools...)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Tokens)) {
		add("tokens."+name+".enabled_tools", cfg.Tokens[name].EnabledTools...)
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
	boxes := a.boxNames()
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

// boxNames are the boxes there are, or could be.
func (a *App) boxNames() []string {
	names := append(ownBoxes(), "ovosbox")
	if cfg := a.settings.Load(); cfg != nil {
		names = append(names, slices.Sorted(maps.Keys(cfg.MCPServers))...)
	}
	if a.Hub != nil {
		for _, b := range a.Hub.Boxes() {
			names = append(names, b.Name())
		}
	}
	return names
}

// serverMention is a name of one server's own settings.
type serverMention struct{ server, key, name string }

func (a *App) serverMentions() []serverMention {
	var out []serverMention
	cfg := a.settings.Load()
	if cfg == nil {
		return out
	}
	for _, server := range slices.Sorted(maps.Keys(cfg.MCPServers)) {
		s := cfg.MCPServers[server]
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
	specs    []toolcrib.Spec
	names    []string
	boxes    []string
	offers   map[string][]string // by server, those that were listed
	unlisted []string            // servers that were not
	tools    settings.Tools
}

func (a *App) whole(ctx context.Context) *whole {
	w := &whole{boxes: a.boxNames(), offers: map[string][]string{}}
	cfg := a.settings.Load()
	if cfg == nil {
		cfg = &settings.Config{}
	}
	w.tools = cfg.Tools
	s := a.shelving
	s.Boxes, s.Disable, s.Absent = slices.Clone(s.Boxes), nil, nil
	s.Boxes = append(s.Boxes, a.switchedOff(ctx, *cfg, s.Boxes)...)
	if a.Hub != nil {
		s.Boxes = append(s.Boxes, a.meta)
		for _, b := range a.Hub.Boxes() {
			names, listed := b.Known()
			if !listed {
				w.unlisted = append(w.unlisted, b.Name())
				continue
			}
			w.offers[b.Name()] = names
			s.Qualify = append(s.Qualify, b.Name())
			s.Boxes = append(s.Boxes, namesOnly(b.Name(), "mcp", names))
		}
	}
	for server, settings := range cfg.MCPServers {
		if settings.Disabled {
			w.unlisted = append(w.unlisted, server)
		}
	}
	if cfg.Toolboxes.OvosBox.Enabled {
		w.unlisted = append(w.unlisted, "ovosbox") // its hosts come and go
	}
	shelves := toolcrib.Crib{Catalog: &toolcrib.Catalog{}}
	shelves.Catalog.Load(ctx, s) // what cannot be used was told when it was loaded in earnest
	w.specs = slices.Collect(shelves.Tools(toolcrib.Caller{}))
	for i := range w.specs {
		w.names = append(append(w.names, w.specs[i].Name), w.specs[i].Names()...)
	}
	return w
}

// namesOnly is a box that has tools by name and can do nothing.
func namesOnly(box, group string, names []string) toolcrib.Toolbox {
	var tools []toolcrib.Tool
	for _, name := range names {
		tools = append(tools, toolcrib.Tool{Spec: toolcrib.Spec{Name: name, Group: group}, Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			return nil, errors.New("this tool is only a name")
		}})
	}
	return toolcrib.NewBox(box, tools...)
}

// switchedOff lists the boxes of ours that are not in use. They are asked for
// their tools and closed.
func (a *App) switchedOff(ctx context.Context, cfg settings.Config, used []toolcrib.Toolbox) []toolcrib.Toolbox {
	aside := &App{Crib: &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Log: a.Crib.Log}, reach: a.reach}
	var out []toolcrib.Toolbox
	for _, k := range aside.kinds(cfg) {
		if slices.ContainsFunc(used, func(b toolcrib.Toolbox) bool { return b.Name() == k.name }) {
			continue
		}
		switch k.name {
		case "skill": // it has these where there are skills
			out = append(out, namesOnly(k.name, k.name, []string{"list_skills", "use_skill", "read_skill_file", "run_skill"}))
			continue
		case agentsBox, "ovosbox":
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

// judge says what is wrong with a place of the settings that means no tool in
// use; false: nothing is.
func (w *whole) judge(m *policy.Mention) (Unmatched, bool) {
	if slices.ContainsFunc(w.specs, func(s toolcrib.Spec) bool { return m.Means(&s) }) {
		return Unmatched{}, false
	}
	unknown := func(why string) (Unmatched, bool) { return Unmatched{Where: m.Where, Unknown: true, Why: why}, true }
	box, name, pattern, ok := m.Tools.Named()
	if !ok {
		return w.judgeGroup(m)
	}
	word := m.Tools.String()
	if m.TwoWays() && slices.ContainsFunc(w.specs, func(s toolcrib.Spec) bool { return s.Called(word) }) {
		return Unmatched{Where: m.Where, Why: "allows nothing, since this name can be read in two ways: write it as box/tool"}, true
	}
	for _, server := range w.unlisted {
		if box == server || strings.HasPrefix(strings.TrimPrefix(word, "mcp__"), server+"__") {
			return unknown(fmt.Sprintf("is about %s, whose tools are not known yet", server))
		}
	}
	switch near := w.near(word, box); {
	case near != "":
		return Unmatched{Where: m.Where, Why: "does not match any tool. Did you mean " + near + "?"}, true
	case box != "" && !slices.Contains(w.boxes, box):
		return unknown(fmt.Sprintf("does not match any tool here: there is no toolbox or server %s", box))
	case box == "" && pattern:
		return unknown("does not match any tool that is known now")
	case box == "" && len(w.unlisted) > 0:
		return unknown(fmt.Sprintf("does not match any tool that is known now; what %s offers is not known yet", strings.Join(w.unlisted, ", ")))
	case box != "" && name == "*":
		return unknown(fmt.Sprintf("does not match any tool that is known now: %s offers none", box))
	}
	return Unmatched{Where: m.Where, Why: "does not match any tool; 'toolcrib tools' lists them"}, true
}

// near is the name that was most likely meant.
func (w *whole) near(word, box string) string {
	plain := strings.TrimRight(word, "*")
	if near := text.Nearest(plain, w.names); near != "" && near != plain {
		return near
	}
	if box == "" || slices.Contains(w.boxes, box) {
		return ""
	}
	if near := text.Nearest(box, w.boxes); near != "" {
		return strings.Replace(word, box, near, 1)
	}
	return ""
}

func (w *whole) judgeGroup(m *policy.Mention) (Unmatched, bool) {
	group := m.Tools.Group()
	switch group {
	case "", "mcp", "api", "skill": // they come and go
		return Unmatched{}, false
	}
	var groups []string
	for i := range w.specs {
		groups = append(groups, w.specs[i].Group)
	}
	if slices.Contains(groups, group) {
		return Unmatched{}, false
	}
	why := "does not match any tool: there is no group " + group
	if near := text.Nearest(group, groups); near != "" {
		why += ". Did you mean group:" + near + "?"
	}
	return Unmatched{Where: m.Where, Why: why}, true
}

func (w *whole) judgeServer(s serverMention) (Unmatched, bool) {
	u := Unmatched{Where: fmt.Sprintf("mcp_servers.%s.%s: %s", s.server, s.key, s.name)}
	offers, listed := w.offers[s.server]
	if !listed {
		u.Unknown, u.Why = true, fmt.Sprintf("is about %s, whose tools are not known yet", s.server)
		return u, true
	}
	var names []string
	for _, offer := range offers {
		t := toolname.Tool{Box: s.server, Native: offer}
		if slices.ContainsFunc(w.tools.ServerNames(s.server, []string{s.name}), t.Called) {
			return u, false
		}
		names = append(names, t.Names()...)
	}
	if toolname.IsPattern(s.name) {
		u.Unknown, u.Why = true, "does not match any tool that is known now"
		return u, true
	}
	u.Why = "does not match any tool of " + s.server
	if near := text.Nearest(s.name, names); near != "" {
		u.Why += ". Did you mean " + near + "?"
	}
	return u, true
}
