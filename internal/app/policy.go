package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/guards"
	"github.com/toolcrib/toolcrib/internal/httpauth"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/reach"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// livePolicy is who may use what, and when a person is asked, as it stands now.
// Visibility and guards are exchanged together when the settings change.
type livePolicy struct {
	live       policy.Live
	visible    atomic.Pointer[policy.Visibility]
	rules      atomic.Pointer[policy.Rules]
	conditions policy.Conditions // kept, so that reading the same rules again is cheap
	home, dir  string
	guests     atomic.Pointer[httpapi.Access]  // who may come in over HTTP
	settings   atomic.Pointer[settings.Config] // what it was made of
	broken     atomic.Pointer[string]          // why newer settings are not in force
	notice     atomic.Pointer[notice]          // sees changed settings at a request; nil: they are not followed
	servers    sync.Mutex                      // held while servers are put up
	taking     sync.Mutex                      // held while settings are read and put up, so that the newest stay
}

// ownBoxes are the toolboxes that are part of the program: rules and profiles
// that allow by a bare name mean their tools only. So are those of a program that
// has this one in it.
func ownBoxes(others ...toolcrib.Toolbox) []string {
	names := []string{mcphub.MetaName, models.Box}
	for _, box := range others {
		names = append(names, box.Name())
	}
	for _, k := range (&App{}).kinds(settings.Config{}) {
		if k.name != "ovosbox" { // its tools are somebody else's
			names = append(names, k.name)
		}
	}
	return names
}

// bare are the boxes whose tools an allow by a bare name means: not those of a project.
func (a *App) bare() []string {
	return slices.DeleteFunc(slices.Clone(a.own), func(box string) bool { return box == projectTools })
}

// ProjectCheck says what is wrong with the parts of a project's file: see [guards.ProjectCheck].
func ProjectCheck(cfg settings.Config, dir, home string) func(key, name string, value any) error {
	return guards.ProjectCheck(cfg, ownBoxes(), dir, home)
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

// openPolicy puts up who may use what. A crib that cannot be called has no rules
// to hold calls against.
func (a *App) openPolicy(_ context.Context, cfg settings.Config, needs Needs) error {
	if needs.For != ToList {
		return settings.Bad(a.setPolicy(cfg, needs.Layers))
	}
	layers := needs.Layers
	if layers == nil {
		layers = &settings.Layers{User: cfg}
	}
	visibility, err := layers.Visibility(a.own)
	a.policy.visible.Store(visibility)
	return settings.Bad(err)
}

// setPolicy puts the policy of these settings up. On an error the one before
// stays.
func (a *App) setPolicy(cfg settings.Config, layers *settings.Layers) error {
	own := settings.Layers{User: cfg}
	if layers != nil {
		own = *layers
	}
	layers, own.Chosen = &own, choices{a}
	visibility, err := layers.Visibility(a.own)
	if err != nil {
		return err
	}
	p, err := a.makePolicy(cfg, layers)
	if err != nil {
		return err
	}
	guests, err := httpauth.AccessOf(layers, cfg, a.subject, a.policy.guests.Load())
	if err != nil {
		return err
	}
	a.policy.guests.Store(guests)
	a.policy.visible.Store(visibility)
	a.policy.rules.Store(p.Rules)
	a.policy.live.Set(p)
	a.policy.settings.Store(&cfg)
	return nil
}

// makePolicy makes the guards of mode and rules, with the shell guard.
func (a *App) makePolicy(cfg settings.Config, layers *settings.Layers) (*policy.Policy, error) {
	// Read by themselves first, so that a mistake is told where it was made.
	for key, commands := range map[string][]string{"allowed": cfg.Toolboxes.Shell.AllowedCommands, "only": cfg.Toolboxes.Shell.OnlyCommands} {
		if _, err := shellguard.ParseRules(settings.Prefixes(commands)); err != nil {
			return nil, fmt.Errorf("toolboxes.shell.%s_commands: %w", key, err)
		}
	}
	var shell *shellguard.Guard
	if cfg.Toolboxes.Shell.AllowShell {
		var err error
		if shell, err = a.shellGuard(cfg.Toolboxes.Shell); err != nil {
			return nil, err
		}
	}
	// Where nothing is granted, as in the home directory, relative rules still say something.
	base := cmp.Or(a.reach.Base, a.policy.dir)
	rules, err := policy.NewRules(append(layers.Rules(cfg), guards.GrantedSearch(cfg)...), policy.RuleOptions{
		Own: a.bare(), Known: cfg.KnownNames(), Base: base, Home: a.policy.home, Resolve: policy.RealPath, Shell: shell, Conditions: &a.policy.conditions, Skips: true,
	})
	if err != nil {
		return nil, err
	}
	p := &policy.Policy{Rules: rules, Mode: layers.Mode, Shell: shell, Obeyed: a.obeyedGuard()}
	p.Whole = &a.Crib.Grant
	p.ModeBy = func(call toolcrib.Call) string {
		_, why := layers.ModeBy(call)
		return why
	}
	if shell != nil {
		shell.Rules = rules.Commands()
		shell.Refuse = !cfg.Toolboxes.Shell.Ask // without the question less runs, never more
		shell.Limit, _ = shellguard.ParseRules(settings.Prefixes(cfg.Toolboxes.Shell.OnlyCommands))
		shell.Only = shell.Refuse && rules.NamesCommands() || len(shell.Limit) > 0
		shell.Unasked = p.Unasked
		if shell.Literal {
			shell.Unasked, shell.AllowsAll = p.UnaskedByMode, p.Unasked
		}
		a.reach.Watch(shell, p)
		shell.Writes = func(call toolcrib.Call, path string) error { return a.mayWrite(p, call, path) }
	}
	return p, nil
}

// mayWrite says whether a call may write a file unasked, as write_file would: the
// tool exists for the caller, mode and rules allow it, and its handle reaches the file.
func (a *App) mayWrite(p *policy.Policy, call toolcrib.Call, path string) error {
	spec := policy.WriteFile()
	if !a.hasTool(call.Caller, &spec) {
		return errors.New("there is no write_file for this caller, by which it would go")
	}
	if err := p.Writes(call, path); err != nil {
		return err
	}
	err := reach.RefusesFile(a.Crib, p.Left(call), path, true, false)
	if no, ok := toolcrib.AsError(err); ok { // a model reads it, and knows the file by another name
		return errors.New(strings.ReplaceAll(no.Message, strconv.Quote(path), "it"))
	}
	return err
}

// hasTool reports whether a tool of ours is on the shelves for a caller, under
// whatever name.
func (a *App) hasTool(caller toolcrib.Caller, want *toolcrib.Entry) bool {
	for spec := range a.Crib.Tools(caller) {
		if spec.Box == want.Box && spec.Native == want.Native {
			return true
		}
	}
	return false
}

// seen is the one rule for listing and calling.
func (p *livePolicy) seen(caller toolcrib.Caller, spec *toolcrib.Entry) bool {
	v := p.visible.Load()
	return v != nil && v.Visible(caller, spec)
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

// Explanation is what would become of a call, and why.
type Explanation struct {
	Tool string `json:"tool"`
	policy.Explanation
}

// Explain says what would become of a call.
func (a *App) Explain(ctx context.Context, call toolcrib.Call) (Explanation, error) {
	j, err := a.Judge(ctx, call)
	if err != nil {
		if why := a.Hidden(call.Caller, call.Tool); why != "" && toolcrib.CodeOf(err) == toolcrib.CodeNotFound {
			err = &toolcrib.Error{Code: toolcrib.CodeNotFound, Tool: call.Tool, Message: why, Err: err}
		}
		return Explanation{}, err
	}
	return Explanation{call.Tool, policy.Explain(j.Review, j.Decision, j.Verdicts)}, nil
}

// PolicyReport is what is in force, for people.
type PolicyReport struct {
	Mode     string   `json:"mode"`
	Profiles []string `json:"profiles"`
	Rules    int      `json:"rules"`
	Unused   []string `json:"unused,omitempty"` // rules and settings that mean no tool there is; who shows it fills it in
}

// PolicyReport tells what is in force for a caller without a preset.
func (a *App) PolicyReport() PolicyReport {
	p, v := a.policy.live.Policy(), a.policy.visible.Load()
	return PolicyReport{Mode: p.Mode(toolcrib.Call{}).String(), Profiles: v.Profile(toolcrib.Caller{}), Rules: p.Rules.Len()}
}

// seen is which tools exist for a caller: what stands in for a box that is
// switched off exists on the bus only.
func (a *App) seen(caller toolcrib.Caller, spec *toolcrib.Entry) bool {
	return (caller.Dialect == dialect.OVOS || !a.hosted.IsOff(spec.Box)) && a.Agents.Exists(caller, spec) && a.Notebook.Offered(caller, spec) && a.policy.seen(caller, spec)
}
