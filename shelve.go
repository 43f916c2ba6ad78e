package toolcrib

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
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
	names := newNaming(&s)
	reportUnknown(lists, s, names, fault)
	var entries []*callable
	for _, box := range slices.Sorted(maps.Keys(lists)) {
		seen := map[string]bool{}
		for _, t := range lists[box] {
			native := t.Name
			if names.disabled(box, native) {
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
		to := renamed(s.Rename, e.spec.Box, e.spec.Native)
		switch {
		case to == "" || to == e.spec.Name:
		case !validName(to):
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
	names.name(entries)
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

func renamed(rename map[string]string, box, tool string) string {
	if to := rename[box+"/"+tool]; to != "" {
		return to
	}
	return rename[tool]
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
		case !validName(name):
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

// unique settles collisions: every tool that wants a taken name becomes
// box__tool, all of them, so that no order of loading decides who keeps it.
// Names that collide even then end in a hash of where the tool comes from; one
// that merely bears such a name has to give way. The names of adapters stay:
// they are part of their dialect.
func unique(entries []*callable, fault faultFunc) []*callable {
	rename := func(to func(*callable) string) (changed bool) {
		count := map[string]int{}
		for _, e := range entries {
			count[e.spec.Name]++
		}
		for _, e := range entries {
			if name := to(e); count[e.spec.Name] > 1 && e.adapter == nil && e.spec.Name != name {
				e.spec.Name, changed = name, true
			}
		}
		return changed
	}
	rename((*callable).boxName)
	for rename((*callable).hashName) {
		// Each round gives at least one tool its last name, so this ends.
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

// boxName is <box>__<tool>, cut to what every model API accepts.
func (e *callable) boxName() string {
	if name := e.spec.Box + "__" + e.wanted; len(name) <= maxName {
		return name
	}
	return e.hashName()
}

// hashName is the name only this entry can come to.
func (e *callable) hashName() string {
	sum := sha256.Sum256([]byte(e.spec.Box + "\x00" + e.spec.Native + "\x00" + e.wanted))
	suffix := "_" + hex.EncodeToString(sum[:6])
	name := e.spec.Box + "__" + e.wanted
	return name[:min(len(name), maxName-len(suffix))] + suffix
}

// reportUnknown tells about configured names and patterns that match no tool,
// because a misspelt "disable" is a tool that stays on.
func reportUnknown(lists map[string][]Tool, s Contents, names *naming, fault faultFunc) {
	known := func(fits func(box, tool string) bool) bool {
		for box, tools := range lists {
			for _, t := range tools {
				if fits(box, t.Name) {
					return true
				}
			}
		}
		return false
	}
	unmatched := func(setting, name string) {
		var all []string
		for box, tools := range lists {
			for _, t := range tools {
				all = append(all, t.Name, box+"/"+t.Name)
			}
		}
		slices.Sort(all)
		why := setting + " names it, and it does not match any tool"
		if near := text.Nearest(name, all); near != "" {
			why += ". Did you mean " + near + "?"
		}
		fault("", name, errors.New(why))
	}
	for _, p := range s.Disable {
		called := func(box, tool string) bool {
			t := names.of(box, tool).tool()
			return t.Called(p)
		}
		if _, err := path.Match(p, ""); err != nil {
			fault("", p, fmt.Errorf("disable: %w", err))
		} else if !known(called) && (!toolname.IsPattern(p) || !unlisted(lists, s.Boxes, p)) {
			unmatched("disable", p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Rename)) {
		if !known(func(box, tool string) bool { return name == tool || name == box+"/"+tool }) {
			unmatched("rename", name)
		}
	}
}

// unlisted reports whether a pattern may be about a box whose tools are not known yet.
func unlisted(lists map[string][]Tool, boxes []Toolbox, pattern string) bool {
	of, _, named := strings.Cut(pattern, "/")
	return slices.ContainsFunc(boxes, func(b Toolbox) bool {
		fits, _ := path.Match(of, b.Name())
		return len(lists[b.Name()]) == 0 && (!named || fits)
	})
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
		if err != nil || !validName(a.Name) {
			fault(a.Box, a.Name, errors.Join(fmt.Errorf("adapter for dialect %s", a.Dialect), err))
			continue
		}
		e := *native
		e.adapter = &adapter{Adapter: a, in: in}
		e.spec.Name, e.spec.Title, e.spec.Description = a.Name, a.Title, a.Description
		e.spec.Input, e.spec.Output, e.spec.Dialect = a.Input, a.Output, a.Dialect
		if others := siblings(adapters, &a); len(others) > 0 {
			e.spec.shown = native.spec.shown.without(others)
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
