package skill

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// Gate says what a machine must have for a skill to be of use there:
// metadata.agenticx.gate of its front matter. The zero value is always open.
type Gate struct {
	OS      []string // linux, darwin or windows: one of them
	Bins    []string // programs that must all be there
	AnyBins []string // programs of which one must be there
	Env     []string // variables that must all have a value
	Config  []string // settings that must all be made
	Always  bool     // it is open whatever the rest says
}

// Machine answers what gates ask. A question that nobody answers is answered no.
type Machine struct {
	OS      string                 // as Go calls it; empty: the one this runs on
	Program func(name string) bool // it can be started by this name
	Env     func(name string) bool // it has a value
	Setting func(key string) bool  // it is made
}

// gateKeys is where the gate of a skill stands in its front matter.
func gateKeys() []string { return []string{"metadata", "agenticx", "gate"} }

// gateOf reads the gate of a front matter. An error means that there is one which
// nobody understands: then the skill is left out, because what it needs is not known.
func gateOf(fields map[string]any) (Gate, error) {
	var at any = fields
	for i, key := range gateKeys() {
		inner, ok := at.(map[string]any)
		if !ok {
			if i == len(gateKeys())-1 && at != nil && at != "" {
				return Gate{}, fmt.Errorf("its gate cannot be read: %s has no keys", strings.Join(gateKeys()[:i], "."))
			}
			return Gate{}, nil
		}
		at = inner[key]
	}
	if at == nil {
		return Gate{}, nil
	}
	gate, ok := at.(map[string]any)
	if !ok {
		return Gate{}, fmt.Errorf("its gate cannot be read: it has no keys")
	}
	var g Gate
	lists := map[string]*[]string{"os": &g.OS, "requires_bins": &g.Bins, "requires_any_bins": &g.AnyBins, "requires_env": &g.Env, "requires_config": &g.Config}
	for key, value := range gate {
		if key == "always" {
			is, ok := value.(bool)
			if !ok {
				return Gate{}, fmt.Errorf("its gate cannot be read: always is true or false")
			}
			g.Always = is
			continue
		}
		list, ok := lists[key]
		if !ok {
			return Gate{}, fmt.Errorf("its gate cannot be read: %s is none of %s", line(key, 80), "always, os, requires_any_bins, requires_bins, requires_config, requires_env")
		}
		*list = words(value)
		if len(*list) == 0 && !emptyList(value) {
			return Gate{}, fmt.Errorf("its gate cannot be read: %s is no list of names", key)
		}
	}
	return g, nil
}

func emptyList(v any) bool {
	list, ok := v.([]any)
	return v == nil || v == "" || ok && len(list) == 0
}

// Needs says what is missing for a gate to be open, in words that follow "needs". Empty:
// nothing is.
func (g Gate) Needs(m Machine) string {
	if g.Always {
		return ""
	}
	var missing []string
	system := m.OS
	if system == "" {
		system = runtime.GOOS
	}
	if len(g.OS) > 0 && !slices.ContainsFunc(g.OS, func(s string) bool { return strings.EqualFold(s, system) }) {
		missing = append(missing, strings.Join(g.OS, " or "))
	}
	lacks := func(names []string, has func(string) bool, what string) {
		for _, name := range names {
			if has == nil || !has(name) {
				missing = append(missing, what+name)
			}
		}
	}
	lacks(g.Bins, m.Program, "")
	if len(g.AnyBins) > 0 && (m.Program == nil || !slices.ContainsFunc(g.AnyBins, m.Program)) {
		missing = append(missing, strings.Join(g.AnyBins, " or "))
	}
	lacks(g.Env, m.Env, "the variable ")
	lacks(g.Config, m.Setting, "the setting ")
	return strings.Join(missing, ", ")
}
