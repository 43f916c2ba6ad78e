package toolname

import (
	"maps"
	"slices"
)

// Given is what a catalog calls a tool besides its native name.
type Given struct {
	Box, Native string   // whose they are: a copy of an entry may be made into another tool
	Boxes       []string // what else the box is called, in dialects
	All         []string // after renames, aliases and collisions, and in dialects
	// Exact are those that only a collision can bring up. They are names of the
	// tool all the time, so that a rule does not change its meaning when another
	// tool comes or goes.
	Exact []string
	// Own are those of All that settings or a dialect gave to this very tool.
	// Whoever supplies tools cannot choose them.
	Own []string

	List []string // all of them, made once
}

// Tool is the tool with these names.
func (g *Given) Tool() Tool {
	return Tool{Box: g.Box, Native: g.Native, Boxes: g.Boxes, Shown: g.All, Exact: g.Exact}
}

// Add adds a name; own: settings or a dialect gave it to this very tool.
func (g *Given) Add(name string, own bool) {
	if name == g.Native {
		return
	}
	g.All = appendNew(g.All, name)
	if own {
		g.Own = appendNew(g.Own, name)
	}
}

// Listed makes the list of all names.
func (g *Given) Listed() {
	t := g.Tool()
	g.List = t.Names()
}

// Without gives the names of an adapter that shares its tool with others of its
// dialect, whose names mean other uses of the tool.
func (g *Given) Without(others []string) *Given {
	other := func(name string) bool { return slices.Contains(others, name) }
	out := &Given{Box: g.Box, Native: g.Native, Boxes: g.Boxes, Exact: g.Exact}
	out.All = slices.DeleteFunc(slices.Clone(g.All), other)
	out.Own = slices.DeleteFunc(slices.Clone(g.Own), other)
	out.Listed()
	return out
}

// Settings are what settings and dialects call tools.
type Settings struct {
	Rename   map[string]string   // box/tool or tool → its name
	Alias    map[string]string   // name → box/tool or tool
	Qualify  []string            // boxes whose tools are shown with the box before them
	Disable  []string            // names and patterns of tools that are not to exist
	BoxNames map[string][]string // further names of boxes
	Dialects map[string][]Dialect

	aliases map[string][]string // box/tool or tool → names
}

// Dialect is the name that a dialect has for a tool. Foreign: who supplies the tool
// chose it.
type Dialect struct {
	Name    string
	Foreign bool
}

// Renamed is the name that settings give to a tool; empty: none.
func (s *Settings) Renamed(box, tool string) string {
	if to := s.Rename[box+"/"+tool]; to != "" {
		return to
	}
	return s.Rename[tool]
}

// Of says what a tool may be called, before it is known what else there is.
func (s *Settings) Of(box, native string) *Given {
	if s.aliases == nil {
		s.aliases = map[string][]string{}
		for _, name := range slices.Sorted(maps.Keys(s.Alias)) {
			s.aliases[s.Alias[name]] = append(s.aliases[s.Alias[name]], name)
		}
	}
	key := box + "/" + native
	out := &Given{Box: box, Native: native, Boxes: s.BoxNames[box]}
	wanted := native
	if to := s.Renamed(box, native); to != "" {
		wanted = to
		out.Add(to, s.Rename[key] == to)
	}
	for _, name := range s.aliases[native] {
		out.Add(name, false)
	}
	for _, name := range s.aliases[key] {
		out.Add(name, true)
	}
	for _, d := range s.Dialects[key] {
		out.Add(d.Name, !d.Foreign)
	}
	if wanted == native && slices.Contains(s.Qualify, box) {
		out.Add(InBox(box, native, wanted), false)
	}
	out.Exact = []string{InBox(box, native, wanted), Last(box, native, wanted)}
	return out
}

// Disabled reports whether settings say that a tool is not to exist.
func (s *Settings) Disabled(box, native string) bool {
	if len(s.Disable) == 0 {
		return false
	}
	t := s.Of(box, native).Tool()
	return slices.ContainsFunc(s.Disable, t.Called)
}
