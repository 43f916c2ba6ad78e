package toolcrib

import (
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib/internal/toolname"
)

// shownNames is what the catalog calls a tool besides its native name.
type shownNames struct {
	box, native string   // whose they are: a copy of an Entry may be made into another tool
	boxes       []string // what else the box is called, in dialects
	all         []string // after renames, aliases and collisions, and in dialects
	// exact are those that only a collision can bring up. They are names of the
	// tool all the time, so that a rule does not change its meaning when another
	// tool comes or goes.
	exact []string
	// given are those of all that settings or a dialect gave to this very tool.
	// Whoever supplies tools cannot choose them.
	given []string

	list []string // all of them, made once
}

// Names lists every name that the tool answers to wherever a person types one,
// the native name first: those that lists show, in every dialect, and those
// with its box before it. It is not to be written to.
func (s *Entry) Names() []string {
	if s.catalogued() && s.shown.list != nil {
		return s.shown.list
	}
	t := s.named()
	return t.Names()
}

// catalogued: the names of the catalog are this tool's.
func (s *Entry) catalogued() bool {
	return s.shown != nil && s.shown.box == s.Box && s.shown.native == s.Native
}

// Called reports whether a name, or a pattern with * and ?, may mean this tool
// by any of its names. It is the reading for what takes away: settings that give
// something must not go by it, since suppliers choose the names of their tools.
func (s *Entry) Called(pattern string) bool {
	t := s.named()
	return t.Called(pattern)
}

// GivenNames lists the further names that settings or a dialect gave to this
// very tool: nobody who supplies tools can choose them.
func (s *Entry) GivenNames() []string {
	if !s.catalogued() {
		return nil
	}
	return s.shown.given
}

// BoxNames lists what the tool's box is called in dialects, if that is another
// name. Settings and programs give them, nobody who supplies tools does.
func (s *Entry) BoxNames() []string {
	if !s.catalogued() {
		return nil
	}
	return s.shown.boxes
}

func (s *Entry) named() toolname.Tool {
	switch {
	case s.catalogued():
		return s.shown.tool()
	case s.Name != "" && s.Name != s.Native:
		return toolname.Tool{Box: s.Box, Native: s.Native, Shown: []string{s.Name}}
	}
	return toolname.Tool{Box: s.Box, Native: s.Native}
}

func (n *shownNames) tool() toolname.Tool {
	return toolname.Tool{Box: n.box, Native: n.native, Boxes: n.boxes, Shown: n.all, Exact: n.exact}
}

// naming knows what [Contents] calls tools.
type naming struct {
	s        *Contents
	adapters map[string][]Adapter // box/tool → those of dialects
	aliases  map[string][]string  // box/tool or tool → names
}

func newNaming(s *Contents) *naming {
	n := &naming{s: s, adapters: map[string][]Adapter{}, aliases: map[string][]string{}}
	for _, a := range s.Adapters {
		key := a.Box + "/" + a.Native
		n.adapters[key] = append(n.adapters[key], a)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Alias)) {
		n.aliases[s.Alias[name]] = append(n.aliases[s.Alias[name]], name)
	}
	return n
}

// of says what a tool may be called, before it is known what else there is.
func (n *naming) of(box, native string) *shownNames {
	key := box + "/" + native
	out := &shownNames{box: box, native: native, boxes: n.s.BoxNames[box]}
	wanted := native
	if to := renamed(n.s.Rename, box, native); to != "" {
		wanted = to
		out.add(to, n.s.Rename[key] == to)
	}
	for _, name := range n.aliases[native] {
		out.add(name, false)
	}
	for _, name := range n.aliases[key] {
		out.add(name, true)
	}
	for _, a := range n.adapters[key] {
		out.add(a.Name, !a.Foreign)
	}
	e := callable{spec: Entry{Box: box, Native: native}, wanted: wanted}
	if wanted == native && slices.Contains(n.s.Qualify, box) {
		out.add(e.boxName(), false)
	}
	out.exact = []string{e.boxName(), e.hashName()}
	return out
}

// disabled reports whether settings say that a tool is not to exist.
func (n *naming) disabled(box, native string) bool {
	if len(n.s.Disable) == 0 {
		return false
	}
	t := n.of(box, native).tool()
	return slices.ContainsFunc(n.s.Disable, t.Called)
}

// name tells every entry what its tool is called.
func (n *naming) name(entries []*callable) {
	byTool := map[string]*shownNames{}
	for _, e := range entries {
		key := e.spec.Box + "/" + e.spec.Native
		if byTool[key] == nil {
			byTool[key] = n.of(e.spec.Box, e.spec.Native)
		}
		byTool[key].add(e.spec.Name, false)
	}
	for _, names := range byTool {
		t := names.tool()
		names.list = t.Names()
	}
	for _, e := range entries {
		names := byTool[e.spec.Box+"/"+e.spec.Native]
		e.spec.shown, e.native.shown = names, names
	}
}

func (n *shownNames) add(name string, given bool) {
	if name == n.native {
		return
	}
	if !slices.Contains(n.all, name) {
		n.all = append(n.all, name)
	}
	if given && !slices.Contains(n.given, name) {
		n.given = append(n.given, name)
	}
}

// without gives the names of an adapter that shares its tool with others of its
// dialect, whose names mean other uses of the tool.
func (n *shownNames) without(others []string) *shownNames {
	other := func(name string) bool { return slices.Contains(others, name) }
	out := &shownNames{box: n.box, native: n.native, boxes: n.boxes, exact: n.exact}
	out.all = slices.DeleteFunc(slices.Clone(n.all), other)
	out.given = slices.DeleteFunc(slices.Clone(n.given), other)
	t := out.tool()
	out.list = t.Names()
	return out
}
