package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
)

// Visibility says which tools exist for a caller, for listing and for calling
// alike. Each part can only take away. The zero value shows nothing.
type Visibility struct {
	// Own are the toolboxes that are part of the program; see [Profile.Has].
	Own []string
	// Profiles are the user's own, by name. They may not be called like a
	// built-in one.
	Profiles map[string]Profile
	// Profile names the profiles of a caller, one for each layer that has a word
	// on it: a tool has to be in all of them. Nil, or none: minimal. One that is
	// not known shows nothing.
	Profile func(toolcrib.Caller) []string
	// Disabled tools exist for nobody.
	Disabled []Selector
	// Assigned tools exist for the named agents only (assign_to_agents).
	Assigned []Assignment
	// Tokens are the tokens there are. A caller with another one, which was taken
	// away meanwhile, has no tools.
	Tokens map[string]bool
	// Enabled are the tools of a token (enabled_tools), by its name. A token
	// that is not in here is not bound so; one with an empty list has none.
	Enabled map[string][]Selector
	// Owned tools exist for callers of an organisation only.
	Owned []Ownership

	ready map[string]Profile
}

// Assignment gives tools to agents and hides them from the others.
type Assignment struct {
	Tools  []Selector
	Agents []string
}

// Ownership gives tools to an organisation.
type Ownership struct {
	Tools        []Selector
	Organisation string
}

// Prepare checks the parts and makes what Visible goes by. It must be called
// once, before the first use.
func (v *Visibility) Prepare() error {
	var errs []error
	v.ready = map[string]Profile{}
	for name, p := range v.Profiles {
		if _, taken := BuiltinProfile(name); taken || name == "" {
			errs = append(errs, fmt.Errorf("the profile %q has the name of a built-in one, or none", name))
			continue
		}
		v.ready[name] = p
	}
	for _, name := range []string{ProfileMinimal, ProfileCoding, ProfileFull} {
		v.ready[name], _ = BuiltinProfile(name)
	}
	for _, o := range v.Owned {
		if o.Organisation == "" {
			errs = append(errs, errors.New("a tool is owned by an organisation without a name"))
		}
	}
	return errors.Join(errs...)
}

// Visible reports whether a tool exists for a caller. It is what Crib.Visible
// wants.
func (v *Visibility) Visible(caller toolcrib.Caller, spec *toolcrib.Entry) bool {
	why, _ := v.hidden(caller, spec)
	return why == hiddenNot
}

type hiddenBy uint8

const (
	hiddenNot hiddenBy = iota
	hiddenProfile
	hiddenDisabled
	hiddenAgent
	hiddenToken
	hiddenOwner
)

// Why says why a tool does not exist for a caller and what to change; empty if
// it does exist.
func (v *Visibility) Why(caller toolcrib.Caller, spec *toolcrib.Entry) string {
	tool := spec.Box + "/" + spec.Native
	by, name := v.hidden(caller, spec)
	switch by {
	case hiddenProfile:
		return fmt.Sprintf("%s (effects %s, group %q) is not in the profile %q: choose another profile, or include it in one of your own", tool, spec.Effects, spec.Group, name)
	case hiddenDisabled:
		return fmt.Sprintf("%s is disabled: remove %s from the disabled tools", tool, name)
	case hiddenAgent:
		return fmt.Sprintf("%s is assigned to other agents than %q (agents.NAME.assigned_tools): run under one of them, or assign it to this one too", tool, caller.Agent)
	case hiddenToken:
		return fmt.Sprintf("%s is not among the enabled_tools of the token %q", tool, name)
	case hiddenOwner:
		return fmt.Sprintf("%s belongs to an organisation that the caller is not of", tool)
	}
	return ""
}

// hidden looks for a delegate whether the tool exists for each of its lineage.
func (v *Visibility) hidden(caller toolcrib.Caller, spec *toolcrib.Entry) (hiddenBy, string) {
	if !lineage.Delegate(caller.Agent) {
		return v.hiddenFrom(caller, spec)
	}
	names := lineage.Names(caller.Agent)
	if len(names) > maxLineage {
		return hiddenAgent, ""
	}
	for _, name := range names {
		caller.Agent = name
		if by, what := v.hiddenFrom(caller, spec); by != hiddenNot {
			return by, what
		}
	}
	return hiddenNot, ""
}

func (v *Visibility) hiddenFrom(caller toolcrib.Caller, spec *toolcrib.Entry) (hiddenBy, string) {
	var names []string
	if v.Profile != nil {
		names = v.Profile(caller)
	}
	if len(names) == 0 {
		names = []string{ProfileMinimal}
	}
	for _, name := range names {
		if p, ok := v.ready[name]; !ok || !p.Has(spec, v.Own) {
			return hiddenProfile, name
		}
	}
	for i := range v.Disabled {
		if v.Disabled[i].Picks(spec) {
			return hiddenDisabled, v.Disabled[i].text
		}
	}
	for _, a := range v.Assigned {
		if !slices.Contains(a.Agents, caller.Agent) && mayAny(a.Tools, spec) {
			return hiddenAgent, ""
		}
	}
	if caller.Token != "" {
		token := caller.Token
		if !v.Tokens[token] {
			return hiddenToken, token
		}
		if tools, bound := v.Enabled[token]; bound && !slices.ContainsFunc(tools, func(s Selector) bool { return s.includes(spec, v.Own) }) {
			return hiddenToken, token
		}
	}
	for _, o := range v.Owned {
		if caller.Organisation != o.Organisation && mayAny(o.Tools, spec) {
			return hiddenOwner, ""
		}
	}
	return hiddenNot, ""
}

func mayAny(list []Selector, spec *toolcrib.Entry) bool {
	return slices.ContainsFunc(list, func(s Selector) bool { return s.Picks(spec) })
}
