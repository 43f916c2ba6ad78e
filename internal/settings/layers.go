package settings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Organisation is the one that callers of this machine belong to. The machine's
// word counts first.
func (l *Layers) Organisation() string {
	if len(l.Admin.Organisations) > 0 { // then the machine says who belongs to them
		return l.Admin.Organisation
	}
	return cmp.Or(l.Admin.Organisation, l.User.Organisation)
}

// Prefixes makes a rule of each command: its words, and whatever harmless
// arguments follow. One with a = before it means exactly these words.
func Prefixes(commands []string) []string {
	rules := slices.Clone(commands)
	for i, c := range rules {
		if c = strings.TrimSpace(c); !strings.HasSuffix(c, "*") && !strings.HasPrefix(c, "=") {
			rules[i] = c + " *"
		}
	}
	return rules
}

// WithStart adds start_command where run_command is meant: rules about the one are
// about both, and whoever takes the one away means that no command is run.
func WithStart(names []string) []string {
	run := toolname.Tool{Box: "shell", Native: "run_command", Boxes: []string{dialect.OVOSBox("shell")}, Shown: []string{"bash_exec"}}
	if !slices.ContainsFunc(names, run.Called) {
		return names
	}
	return append(slices.Clone(names), "shell/start_command")
}

// Rules are the layers of permissions, each by itself.
func (l *Layers) Rules(cfg Config) []policy.Layer {
	user := l.User.Permissions
	user.Allow = slices.Concat(user.Allow, commandRules(cfg.Toolboxes.Shell.AllowedCommands), commandRules(cfg.Toolboxes.Shell.OnlyCommands))
	list := []policy.Layer{
		{Rank: policy.RankAdmin, Source: "permissions of the system", Permissions: l.Admin.Permissions},
		{Rank: policy.RankUser, Source: "permissions", Permissions: user},
		{Rank: policy.RankProject, Source: "permissions of the project", Permissions: l.Project.Permissions},
		{Rank: policy.RankSession, Source: "--deny and --ask", Permissions: l.Session},
	}
	agents := func(rank policy.Rank, file int, agents map[string]Agent) {
		for _, name := range slices.Sorted(maps.Keys(agents)) {
			list = append(list, policy.Layer{Rank: rank, File: file, Source: "agents." + name + ".permissions", Agent: name, Permissions: agents[name].Permissions})
		}
	}
	agents(policy.RankAdmin, 0, l.Admin.Agents)
	agents(policy.RankUser, 0, l.User.Agents)
	agents(policy.RankProject, 0, l.Project.Agents)
	for i, outer := range l.Outer {
		list = append(list, policy.Layer{Rank: policy.RankProject, File: i + 1, Source: "permissions of a project around it", Permissions: outer.Permissions})
		agents(policy.RankProject, i+1, outer.Agents)
	}
	return list
}

// commandRules writes allowed_commands as rules.
func commandRules(commands []string) []string {
	var rules []string
	for _, c := range Prefixes(commands) {
		rules = append(rules, "run_command("+c+")")
	}
	return rules
}

// BreakProject bounds everything because a project's file has mistakes. It may have
// been there to tighten: by the mode alone nothing runs but what looks.
func (l *Layers) BreakProject() {
	l.Broken = true
	if l.Project.Mode == "" || parsedMode(l.Project.Mode) > policy.ModeDefault {
		l.Project.Mode = policy.ModeDefault.String()
	}
}

// Mode is the mode of a call: the agent's or the user's, and no looser than the
// machine's, the project's, and what was given to this run of the program.
func (l *Layers) Mode(call toolcrib.Call) policy.Mode {
	mode, _ := l.ModeBy(call)
	return mode
}

// ModeBy is mode, and says what held it down; empty if nothing did. Of a lineage it is
// the strictest.
func (l *Layers) ModeBy(call toolcrib.Call) (mode policy.Mode, why string) {
	names := lineage.Names(call.Caller.Agent)
	for i, name := range names {
		call.Caller.Agent = name
		if m, by := l.modeOf(call); i == 0 || m < mode {
			mode, why = m, by
		}
	}
	return mode, why
}

func (l *Layers) modeOf(call toolcrib.Call) (mode policy.Mode, why string) {
	word, from := l.User.Mode, "mode"
	name := call.Caller.Agent
	if agent, ok := l.agent(name); ok && agent.Mode != "" {
		word, from = agent.Mode, "agents."+name+".mode"
	}
	picked, _, takes := l.chosen(call.Caller)
	if picked != "" && (!takes || parsedMode(picked) < parsedMode(cmp.Or(word, l.Admin.Mode, policy.ModeDefault.String()))) {
		word, from = picked, "the mode of this session"
	}
	wanted := parsedMode(cmp.Or(word, l.Admin.Mode, policy.ModeDefault.String()))
	mode = wanted
	project := "mode in the project's file"
	if l.Broken {
		project = "the project's toolcrib.yaml, which has mistakes,"
	}
	bounds := []struct{ word, by string }{
		{l.Most, l.MostBy},
		{l.Admin.Mode, "mode in the system's file"},
		{l.Admin.Agents[name].Mode, "agents." + name + ".mode in the system's file"},
		{l.Project.Mode, project},
	}
	for _, outer := range l.Outer {
		bounds = append(bounds, struct{ word, by string }{outer.Mode, "mode in the file of a project around it"})
	}
	for _, bound := range bounds {
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
func parsedMode(word string) policy.Mode {
	mode, err := policy.ParseMode(word)
	if err != nil {
		return policy.ModePlan
	}
	return mode
}

// profiles names the profiles of a caller, all of which have to show a tool.
func (l *Layers) profiles(caller toolcrib.Caller) []string {
	word, token := l.User.Profile, l.tokenProfile(caller.Token)
	if caller.Agent != "" {
		agent, ok := l.agent(caller.Agent)
		if !ok {
			return []string{"(no agent " + caller.Agent + ")"}
		}
		word = cmp.Or(agent.Profile, token, word)
	} else {
		word = cmp.Or(token, word)
	}
	_, picked, takes := l.chosen(caller)
	if picked != "" && !takes {
		word = picked
	}
	names := []string{cmp.Or(word, l.Admin.Profile, policy.ProfileFull)}
	for _, bound := range []string{l.Admin.Profile, l.Admin.Agents[caller.Agent].Profile, token, picked} {
		if bound != "" && !slices.Contains(names, bound) {
			names = append(names, bound)
		}
	}
	return names
}

// tokenProfile is the profile of those who come in with a token, or by an entry
// of serve.oidc; empty: it has none of its own.
func (l *Layers) tokenProfile(name string) string {
	for _, from := range []*Config{&l.Admin, &l.User} { // a name that both have means the machine's
		if t, ok := from.Tokens[name]; ok {
			return t.Profile
		}
	}
	for _, e := range l.OIDC().Access {
		if OIDCToken(e.Has) == name {
			return e.Profile
		}
	}
	return ""
}

// OIDC is the issuer whose tokens count: the machine's, if it names one.
func (l *Layers) OIDC() OIDC {
	oidc := l.User.Serve.OIDC
	if l.Admin.Serve.OIDC.Issuer != "" {
		oidc = l.Admin.Serve.OIDC
	}
	d := DefaultServe().OIDC
	oidc.Person, oidc.Claim = cmp.Or(oidc.Person, d.Person), cmp.Or(oidc.Claim, d.Claim)
	return oidc
}

// Visibility is which tools exist for whom.
func (l *Layers) Visibility(own []string) (*policy.Visibility, error) {
	v := &policy.Visibility{Own: own, Profile: l.profiles, Profiles: map[string]policy.Profile{}, Enabled: map[string][]policy.Selector{}, Tokens: map[string]bool{}}
	var errs []error
	selectors := func(key string, texts []string) []policy.Selector {
		list, err := policy.ParseSelectors(texts)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
		return list
	}
	for _, from := range []*Config{&l.User, &l.Admin} { // a name that both have means the machine's
		for name, p := range from.Profiles {
			v.Profiles[name] = policy.Profile{Name: name, Include: selectors("profiles."+name+".include", p.Include), Exclude: selectors("profiles."+name+".exclude", WithStart(p.Exclude))}
		}
		for name, o := range from.Organisations {
			v.Owned = append(v.Owned, policy.Ownership{Organisation: name, Tools: selectors("organisations."+name+".tools", WithStart(o.Tools))})
		}
		for name, t := range from.Tokens {
			v.Tokens[name] = true
			if len(t.EnabledTools) > 0 {
				v.Enabled[name] = selectors("tokens."+name+".enabled_tools", t.EnabledTools)
			}
		}
	}
	for _, e := range l.OIDC().Access {
		v.Tokens[OIDCToken(e.Has)] = true
	}
	errs = append(errs, l.assign(v), l.unknownNames(v), v.Prepare())
	return v, errors.Join(errs...)
}

// assign gives tools to the agents that have them assigned. A tool that two
// agents of one layer name is theirs both; what the machine assigns, the user
// cannot give to others.
func (l *Layers) assign(v *policy.Visibility) error {
	var errs []error
	for _, from := range []*Config{&l.Admin, &l.User} {
		owners := map[string][]string{}
		for name, agent := range from.Agents {
			for _, tool := range WithStart(agent.Tools) {
				owners[tool] = append(owners[tool], name)
			}
		}
		for name, server := range from.MCPServers {
			if len(server.Agents) > 0 {
				owners[name+"/*"] = append(owners[name+"/*"], server.Agents...)
			}
		}
		for _, tool := range slices.Sorted(maps.Keys(owners)) {
			list, err := policy.ParseSelectors([]string{tool})
			if err != nil {
				errs = append(errs, fmt.Errorf("agents.%s.assigned_tools: %w", owners[tool][0], err))
				continue
			}
			v.Assigned = append(v.Assigned, policy.Assignment{Tools: list, Agents: owners[tool]})
		}
	}
	return errors.Join(errs...)
}

// meant guesses a misspelt name.
func meant(name string, known []string) string {
	if near := text.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// unknownNames finds profiles and agents that settings name and nobody has.
func (l *Layers) unknownNames(v *policy.Visibility) error {
	var errs []error
	profile := func(key, name string) {
		if _, own := v.Profiles[name]; name != "" && !own {
			if _, ok := policy.BuiltinProfile(name); !ok {
				known := slices.Concat([]string{policy.ProfileMinimal, policy.ProfileCoding, policy.ProfileFull}, slices.Sorted(maps.Keys(v.Profiles)))
				errs = append(errs, fmt.Errorf("%s: there is no profile %q%s; use minimal, coding, full or one of profiles", key, name, meant(name, known)))
			}
		}
	}
	agent := func(key, name string) {
		if _, ok := l.agent(name); name != "" && !ok {
			known := slices.Concat(slices.Sorted(maps.Keys(l.User.Agents)), slices.Sorted(maps.Keys(l.Admin.Agents)))
			errs = append(errs, fmt.Errorf("%s: there is no agent %q%s", key, name, meant(name, known)))
		}
	}
	for _, from := range []*Config{&l.Admin, &l.User} {
		profile("profile", from.Profile)
		for _, name := range slices.Sorted(maps.Keys(from.Agents)) {
			profile("agents."+name+".profile", from.Agents[name].Profile)
			if name == "" || lineage.Delegate(name) {
				errs = append(errs, fmt.Errorf("agents.%s: the name of an agent has no %s in it, and is not empty", text.ShowLine(name), lineage.Sign))
			} else if shown := text.ShowLine(name); shown != name || strings.TrimSpace(name) != name { // two would look alike
				errs = append(errs, fmt.Errorf("agents.%s: the name of an agent has nothing in it that cannot be seen, and no blank at its ends", shown))
			}
			for _, other := range from.Agents[name].Delegates {
				agent("agents."+name+".delegates", other)
			}
		}
		for _, other := range from.Delegation.Delegates {
			agent("delegation.delegates", other)
		}
		for _, name := range slices.Sorted(maps.Keys(from.Tokens)) {
			profile("tokens."+name+".profile", from.Tokens[name].Profile)
			agent("tokens."+name+".agent", from.Tokens[name].Agent)
		}
	}
	for _, e := range l.OIDC().Access {
		profile("serve.oidc.access ("+e.Has+"): profile", e.Profile)
		agent("serve.oidc.access ("+e.Has+"): agent", e.Agent)
	}
	return errors.Join(errs...)
}
