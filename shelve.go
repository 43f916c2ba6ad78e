package toolcrib

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

type faultFunc func(box, tool string, err error)

func byName(a, b *callable) int { return strings.Compare(a.spec.Name, b.spec.Name) }

// shelve turns the boxes' lists into uniquely named entries. The result
// depends on the set of tools only, never on the order boxes were given in.
func shelve(lists map[string][]Tool, s Contents, fault faultFunc) []*callable {
	names := s.names()
	reportUnknown(lists, s, names, fault)
	var entries []*callable
	for _, box := range slices.Sorted(maps.Keys(lists)) {
		seen := map[string]bool{}
		for _, t := range lists[box] {
			native := t.Name
			if names.Disabled(box, native) {
				continue
			}
			if seen[native] {
				fault(box, native, errors.New("the box has another tool of this name"))
				continue
			}
			e, err := newEntry(t, box)
			if err != nil {
				fault(box, native, err)
				continue
			}
			seen[native] = true
			entries = append(entries, e)
		}
	}
	taken := map[string]bool{}
	for _, e := range entries {
		taken[e.spec.Name] = true
	}
	for _, e := range entries {
		to := names.Renamed(e.spec.Box, e.spec.Native)
		switch {
		case to == "" || to == e.spec.Name:
		case !toolname.Valid(to):
			fault(e.spec.Box, e.spec.Native, fmt.Errorf("renamed to the bad name %q", to))
		case taken[to]:
			fault(e.spec.Box, e.spec.Native, fmt.Errorf("renamed to %s, which another tool is called", to))
		default:
			e.spec.Name, taken[to] = to, true
		}
		e.wanted = e.spec.Name
		if e.spec.Name == e.spec.Native && slices.Contains(s.Qualify, e.spec.Box) {
			e.spec.Name = e.boxName()
		}
	}
	yield(entries, s.Yield)
	entries = append(entries, aliases(entries, s.Alias, taken, fault)...)
	entries = unique(entries, fault)
	name(entries, names)
	return entries
}

// yield has the tools of some boxes give way to those of all others.
func yield(entries []*callable, boxes []string) {
	wanted := map[string]bool{}
	for _, e := range entries {
		if !slices.Contains(boxes, e.spec.Box) {
			wanted[e.spec.Name] = true
		}
	}
	for _, e := range entries {
		if wanted[e.spec.Name] && slices.Contains(boxes, e.spec.Box) {
			e.spec.Name = e.boxName()
		}
	}
}

// newEntry checks a tool and compiles its schemas.
func newEntry(t Tool, box string) (*callable, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if t.Input == nil {
		t.Input = json.RawMessage(`{"type":"object","additionalProperties":false}`)
	}
	native := Entry{Spec: t.Spec, Box: box, Native: t.Name, Hash: t.hash()}
	e := &callable{spec: native, native: native, tool: t}
	if t.Foreign {
		e.in, _ = schema.Foreign(t.Input)
		return e, nil
	}
	var err error
	if e.in, e.out, err = compileBoth(t.Input, t.Output); err != nil {
		return nil, err
	}
	// A contract that was not derived may name a default that does not fit it; it is not
	// filled in, and the tool works. In one of ours it is a mistake.
	if bad := e.in.BadDefaults(); t.ours && len(bad) > 0 {
		return nil, fmt.Errorf("input schema: the default at %s does not fit its own schema", strings.Join(bad, ", "))
	}
	return e, nil
}

func compileBoth(input, output json.RawMessage) (in, out *schema.Schema, err error) {
	if in, err = schema.Compile(input); err != nil {
		return nil, nil, fmt.Errorf("input schema: %w", err)
	}
	if output == nil {
		return in, nil, nil
	}
	if out, err = schema.Compile(output); err != nil {
		return nil, nil, fmt.Errorf("output schema: %w", err)
	}
	return in, out, nil
}

// aliases adds further names. An alias must mean exactly one tool.
func aliases(entries []*callable, alias map[string]string, taken map[string]bool, fault faultFunc) []*callable {
	var more []*callable
	for _, name := range slices.Sorted(maps.Keys(alias)) {
		target := alias[name]
		var found []*callable
		for _, e := range entries {
			if target == e.spec.Box+"/"+e.spec.Native || target == e.spec.Native {
				found = append(found, e)
			}
		}
		switch {
		case !toolname.Valid(name):
			fault("", name, errors.New("bad alias: want 1 to 64 letters, digits, _ or -"))
		case taken[name]:
			fault("", name, errors.New("alias: a tool is called so already"))
		case len(found) == 0:
			fault("", name, fmt.Errorf("alias of %s, which is not there", target))
		case len(found) > 1:
			fault("", name, fmt.Errorf("alias of %s, which is more than one tool: write box/tool", target))
		default:
			e := *found[0]
			e.spec.Name, e.wanted, e.alias = name, name, true
			more = append(more, &e)
		}
	}
	return more
}

// unique settles collisions (see [toolname.Settle]). The names of adapters stay: they
// are part of their dialect.
func unique(entries []*callable, fault faultFunc) []*callable {
	wishes := make([]toolname.Wish, len(entries))
	for i, e := range entries {
		wishes[i] = toolname.Wish{Box: e.spec.Box, Native: e.spec.Native, Wanted: e.wanted, Name: e.spec.Name, Fixed: e.adapter != nil}
	}
	toolname.Settle(wishes)
	for i, e := range entries {
		e.spec.Name = wishes[i].Name
	}
	slices.SortStableFunc(entries, byName)
	return slices.CompactFunc(entries, func(a, b *callable) bool {
		if a.spec.Name != b.spec.Name {
			return false
		}
		fault(b.spec.Box, b.spec.Native, fmt.Errorf("another tool is called %s", b.spec.Name))
		return true
	})
}

func (e *callable) boxName() string { return toolname.InBox(e.spec.Box, e.spec.Native, e.wanted) }

// reportUnknown tells about configured names and patterns that match no tool,
// because a misspelt "disable" is a tool that stays on.
func reportUnknown(lists map[string][]Tool, s Contents, names *toolname.Settings, fault faultFunc) {
	all := map[string][]string{}
	for _, b := range s.Boxes { // also those whose tools are not known yet
		all[b.Name()] = nil
	}
	for box, tools := range lists {
		for _, t := range tools {
			all[box] = append(all[box], t.Name)
		}
	}
	for _, u := range names.Unknown(all) {
		if near := text.Nearest(u.Name, u.Known); near != "" {
			u.Why += ". Did you mean " + near + "?"
		}
		fault("", u.Name, errors.New(u.Why))
	}
}

// addDialects puts up one shelf per dialect: the adapted tools under the
// dialect's names, and every other tool as it is. Where the two want the same
// name the adapter keeps it: that name is part of the dialect.
func addDialects(next *snapshot, natives []*callable, adapters []Adapter, fault faultFunc) {
	byTool := map[string]*callable{}
	for _, e := range natives {
		if e.alias {
			continue
		}
		byTool[e.spec.Box+"/"+e.spec.Native] = e
	}
	shelves := map[string][]*callable{}
	adapted := map[string]map[*callable]bool{}
	for _, a := range adapters {
		if adapted[a.Dialect] == nil {
			adapted[a.Dialect] = map[*callable]bool{}
			shelves[a.Dialect] = nil
		}
		native := byTool[a.Box+"/"+a.Native]
		if native == nil {
			continue // its box is not in use, or the tool is disabled
		}
		in, _, err := compileBoth(a.Input, a.Output)
		if err != nil || !toolname.Valid(a.Name) {
			fault(a.Box, a.Name, errors.Join(fmt.Errorf("adapter for dialect %s", a.Dialect), err))
			continue
		}
		e := *native
		e.adapter = &adapter{Adapter: a, in: in}
		e.spec.Name, e.spec.Title, e.spec.Description = a.Name, a.Title, a.Description
		e.spec.Input, e.spec.Output, e.spec.Dialect = a.Input, a.Output, a.Dialect
		if others := siblings(adapters, &a); len(others) > 0 {
			e.spec.shown = native.spec.shown.Without(others)
			e.native.shown = e.spec.shown
		}
		shelves[a.Dialect] = append(shelves[a.Dialect], &e)
		adapted[a.Dialect][native] = true
	}
	for dialect, shelf := range shelves {
		for _, native := range natives {
			if adapted[dialect][native] {
				continue
			}
			e := *native
			e.spec.Dialect = dialect
			shelf = append(shelf, &e)
		}
		next.put(dialect, unique(shelf, fault))
	}
}

// siblings are the names of the other adapters of a dialect for the same tool.
func siblings(adapters []Adapter, of *Adapter) []string {
	var names []string
	for _, a := range adapters {
		if a.Name != of.Name && a.Dialect == of.Dialect && a.Box == of.Box && a.Native == of.Native {
			names = append(names, a.Name)
		}
	}
	return names
}
