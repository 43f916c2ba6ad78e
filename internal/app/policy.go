package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/guard"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/toolname"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// policy is who may use what, and when a person is asked, as it stands now.
// Visibility and guards are exchanged together when the settings change.
type policy struct {
	live       guard.Live
	visible    atomic.Pointer[guard.Visibility]
	rules      atomic.Pointer[guard.Rules]
	conditions guard.Conditions // kept, so that reading the same rules again is cheap
	home       string
	guests     atomic.Pointer[guests] // who may come in over HTTP
	broken     atomic.Pointer[string] // why newer settings are not in force
}

// ownBoxes are the toolboxes that are part of the program: rules and profiles
// that allow by a bare name mean their tools only.
func ownBoxes() []string {
	names := []string{mcphub.MetaName}
	for _, k := range (&App{}).kinds(Config{}) {
		if k.name != "ovosbox" { // its tools are somebody else's
			names = append(names, k.name)
		}
	}
	return names
}

// withStart adds start_command where run_command is meant: rules about the one are
// about both, and whoever takes the one away means that no command is run.
func withStart(names []string) []string {
	run := toolname.Tool{Box: "shell", Native: "run_command", Boxes: []string{dialect.OVOSBox("shell")}, Shown: []string{"bash_exec"}}
	if !slices.ContainsFunc(names, run.Called) {
		return names
	}
	return append(slices.Clone(names), "shell/start_command")
}

// busNames is what boxes of ours are called on the bus.
func busNames() map[string][]string {
	names := map[string][]string{}
	for _, box := range ownBoxes() {
		if id := dialect.OVOSBox(box); id != box {
			names[box] = []string{id}
		}
	}
	return names
}

// setPolicy puts the policy of these settings up. On an error the one before
// stays.
func (a *App) setPolicy(cfg Config, layers *Layers) error {
	if layers == nil {
		layers = &Layers{User: cfg}
	}
	visibility, err := layers.visibility()
	if err != nil {
		return err
	}
	// Read by themselves first, so that a mistake is told where it was made.
	if _, err := guard.ParseRules(prefixes(cfg.Toolboxes.Shell.AllowedCommands)); err != nil {
		return fmt.Errorf("toolboxes.shell.allowed_commands: %w", err)
	}
	var shell *guard.Shell
	if cfg.Toolboxes.Shell.AllowShell {
		if shell, err = a.shellGuard(cfg.Toolboxes.Shell); err != nil {
			return err
		}
	}
	rules, err := guard.NewRules(layers.rules(cfg), guard.RuleOptions{
		Own: ownBoxes(), Known: knownNames(cfg), Base: a.reach.base, Home: a.policy.home, Resolve: guard.RealPath, Shell: shell, Conditions: &a.policy.conditions, Skips: true,
	})
	if err != nil {
		return err
	}
	p := &guard.Policy{Rules: rules, Mode: layers.mode, Shell: shell, Obeyed: a.obeyedGuard()}
	p.Whole = &a.Crib.Grant
	p.ModeBy = func(call toolcrib.Call) string {
		_, why := layers.modeBy(call)
		return why
	}
	if shell != nil {
		shell.Rules = rules.Commands()
		// Without the question less runs, never more.
		shell.Refuse = !cfg.Toolboxes.Shell.Ask
		shell.Only = shell.Refuse && len(shell.Rules) > 0
		shell.Unasked = p.Unasked
	}
	guests, err := layers.guests(cfg, a.subject)
	if err != nil {
		return err
	}
	a.policy.guests.Store(guests)
	a.policy.visible.Store(visibility)
	a.policy.rules.Store(rules)
	a.policy.live.Set(p)
	return nil
}

// seen is the one rule for listing and calling.
func (p *policy) seen(caller toolcrib.Caller, spec *toolcrib.Spec) bool {
	v := p.visible.Load()
	return v != nil && v.Visible(caller, spec)
}

// rules are the layers of permissions, each by itself.
func (l *Layers) rules(cfg Config) []guard.Layer {
	user := l.User.Permissions
	user.Allow = slices.Concat(user.Allow, commandRules(cfg.Toolboxes.Shell.AllowedCommands))
	list := []guard.Layer{
		{Rank: guard.RankAdmin, Source: "permissions of the system", Permissions: l.Admin.Permissions},
		{Rank: guard.RankUser, Source: "permissions", Permissions: user},
		{Rank: guard.RankProject, Source: "permissions of the project", Permissions: l.Project.Permissions},
		{Rank: guard.RankSession, Source: "--deny and --ask", Permissions: l.Session},
	}
	for _, from := range []map[string]Agent{l.Admin.Agents, l.User.Agents} {
		for _, name := range slices.Sorted(maps.Keys(from)) {
			list = append(list, guard.Layer{Rank: guard.RankAgent, Source: "agents." + name + ".permissions", Agent: name, Permissions: from[name].Permissions})
		}
	}
	return list
}

// commandRules writes allowed_commands as rules.
func commandRules(commands []string) []string {
	var rules []string
	for _, c := range prefixes(commands) {
		rules = append(rules, "run_command("+c+")")
	}
	return rules
}

// mode is the mode of a call: the agent's or the user's, and no looser than the
// machine's, the project's, and what was given to this run of the program.
func (l *Layers) mode(call toolcrib.Call) guard.Mode {
	mode, _ := l.modeBy(call)
	return mode
}

// modeBy is mode, and says what held it down; empty if nothing did.
func (l *Layers) modeBy(call toolcrib.Call) (mode guard.Mode, why string) {
	word, from := l.User.Mode, "mode"
	name := call.Caller.Agent
	if agent, ok := l.agent(name); ok && agent.Mode != "" {
		word, from = agent.Mode, "agents."+name+".mode"
	}
	wanted := parsedMode(cmp.Or(word, l.Admin.Mode, guard.ModeDefault.String()))
	mode = wanted
	for _, bound := range []struct{ word, by string }{
		{l.Most, l.MostBy},
		{l.Admin.Mode, "mode in the system's file"},
		{l.Admin.Agents[name].Mode, "agents." + name + ".mode in the system's file"},
		{l.Project.Mode, "mode in the project's file"},
	} {
		if bound.word == "" {
			continue
		}
		if most := parsedMode(bound.word); most < mode {
			mode, why = most, fmt.Sprintf("%s says %s, and %s allows no more than %s", from, wanted, bound.by, most)
		}
	}
	return mode, why
}

// parsedMode reads a mode that the configuration has checked; any other is the
// strictest.
func parsedMode(word string) guard.Mode {
	mode, err := guard.ParseMode(word)
	if err != nil {
		return guard.ModePlan
	}
	return mode
}

// profiles names the profiles of a caller, all of which have to show a tool.
func (l *Layers) profiles(caller toolcrib.Caller) []string {
	word := l.User.Profile
	if caller.Agent != "" {
		agent, ok := l.agent(caller.Agent)
		if !ok {
			return []string{"(no agent " + caller.Agent + ")"}
		}
		word = cmp.Or(agent.Profile, word)
	}
	names := []string{cmp.Or(word, l.Admin.Profile, guard.ProfileFull)}
	for _, bound := range []string{l.Admin.Profile, l.Admin.Agents[caller.Agent].Profile} {
		if bound != "" && !slices.Contains(names, bound) {
			names = append(names, bound)
		}
	}
	return names
}

// visibility is which tools exist for whom.
func (l *Layers) visibility() (*guard.Visibility, error) {
	v := &guard.Visibility{Own: ownBoxes(), Profile: l.profiles, Profiles: map[string]guard.Profile{}, Enabled: map[string][]guard.Selector{}, Tokens: map[string]bool{}}
	var errs []error
	selectors := func(key string, texts []string) []guard.Selector {
		list, err := guard.ParseSelectors(texts)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
		return list
	}
	for _, from := range []*Config{&l.User, &l.Admin} { // a name that both have means the machine's
		for name, p := range from.Profiles {
			v.Profiles[name] = guard.Profile{Name: name, Include: selectors("profiles."+name+".include", p.Include), Exclude: selectors("profiles."+name+".exclude", withStart(p.Exclude))}
		}
		for name, o := range from.Organisations {
			v.Owned = append(v.Owned, guard.Ownership{Organisation: name, Tools: selectors("organisations."+name+".tools", o.Tools)})
		}
		for name, t := range from.Tokens {
			v.Tokens[name] = true
			if len(t.EnabledTools) > 0 {
				v.Enabled[name] = selectors("tokens."+name+".enabled_tools", t.EnabledTools)
			}
		}
	}
	errs = append(errs, l.assign(v), l.unknownNames(v), v.Prepare())
	return v, errors.Join(errs...)
}

// assign gives tools to the agents that have them assigned. A tool that two
// agents of one layer name is theirs both; what the machine assigns, the user
// cannot give to others.
func (l *Layers) assign(v *guard.Visibility) error {
	var errs []error
	for _, from := range []*Config{&l.Admin, &l.User} {
		owners := map[string][]string{}
		for name, agent := range from.Agents {
			for _, tool := range withStart(agent.Tools) {
				owners[tool] = append(owners[tool], name)
			}
		}
		for name, server := range from.MCPServers {
			if len(server.Agents) > 0 {
				owners[name+"/*"] = append(owners[name+"/*"], server.Agents...)
			}
		}
		for _, tool := range slices.Sorted(maps.Keys(owners)) {
			list, err := guard.ParseSelectors([]string{tool})
			if err != nil {
				errs = append(errs, fmt.Errorf("agents.%s.assigned_tools: %w", owners[tool][0], err))
				continue
			}
			v.Assigned = append(v.Assigned, guard.Assignment{Tools: list, Agents: owners[tool]})
		}
	}
	return errors.Join(errs...)
}

// unknownNames finds profiles and agents that settings name and nobody has.
func (l *Layers) unknownNames(v *guard.Visibility) error {
	var errs []error
	profile := func(key, name string) {
		if _, own := v.Profiles[name]; name != "" && !own {
			if _, ok := guard.BuiltinProfile(name); !ok {
				errs = append(errs, fmt.Errorf("%s: there is no profile %q; use minimal, coding, full or one of profiles", key, name))
			}
		}
	}
	for _, from := range []*Config{&l.Admin, &l.User} {
		profile("profile", from.Profile)
		for _, name := range slices.Sorted(maps.Keys(from.Agents)) {
			profile("agents."+name+".profile", from.Agents[name].Profile)
		}
		for _, name := range slices.Sorted(maps.Keys(from.Tokens)) {
			if agent := from.Tokens[name].Agent; agent != "" {
				if _, ok := l.agent(agent); !ok {
					errs = append(errs, fmt.Errorf("tokens.%s.agent: there is no agent %q", name, agent))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// Hidden says why a tool that is on the shelves does not exist for a caller;
// empty if it does, or if there is none.
func (a *App) Hidden(caller toolcrib.Caller, name string) string {
	v := a.policy.visible.Load()
	shelves := toolcrib.Crib{Catalog: a.Crib.Catalog}
	if spec, ok := shelves.Tool(caller, name); ok && v != nil {
		return v.Why(caller, &spec)
	}
	for spec := range shelves.Tools(caller) {
		if v != nil && slices.Contains(spec.Names(), name) {
			return v.Why(caller, &spec)
		}
	}
	return ""
}

// PolicyReport is what is in force, for people.
type PolicyReport struct {
	Mode     string   `json:"mode"`
	Profiles []string `json:"profiles"`
	Rules    int      `json:"rules"`
	Unused   []string `json:"unused,omitempty"` // rules and settings that mean no tool there is
}

// PolicyReport tells what is in force for a caller without a preset.
func (a *App) PolicyReport(ctx context.Context) PolicyReport {
	p, v := a.policy.live.Policy(), a.policy.visible.Load()
	report := PolicyReport{Mode: p.Mode(toolcrib.Call{}).String(), Profiles: v.Profile(toolcrib.Caller{}), Rules: p.Rules.Len()}
	for _, u := range a.Unmatched(ctx) {
		report.Unused = append(report.Unused, u.String())
	}
	return report
}
