package toolcrib

import (
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// Names lists every name that the tool answers to wherever a person types one,
// the native name first: those that lists show, in every dialect, and those
// with its box before it. It is not to be written to.
func (s *Entry) Names() []string {
	if s.catalogued() && s.shown.List != nil {
		return s.shown.List
	}
	t := s.named()
	return t.Names()
}

// catalogued: the names of the catalog are this tool's.
func (s *Entry) catalogued() bool {
	return s.shown != nil && s.shown.Box == s.Box && s.shown.Native == s.Native
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
	return s.shown.Own
}

// BoxNames lists what the tool's box is called in dialects, if that is another
// name. Settings and programs give them, nobody who supplies tools does.
func (s *Entry) BoxNames() []string {
	if !s.catalogued() {
		return nil
	}
	return s.shown.Boxes
}

func (s *Entry) named() toolname.Tool {
	switch {
	case s.catalogued():
		return s.shown.Tool()
	case s.Name != "" && s.Name != s.Native:
		return toolname.Tool{Box: s.Box, Native: s.Native, Shown: []string{s.Name}}
	}
	return toolname.Tool{Box: s.Box, Native: s.Native}
}

// names is what settings and dialects call tools.
func (s *Contents) names() *toolname.Settings {
	n := &toolname.Settings{Rename: s.Rename, Alias: s.Alias, Qualify: s.Qualify, Disable: s.Disable, BoxNames: s.BoxNames, Dialects: map[string][]toolname.Dialect{}}
	for _, a := range s.Adapters {
		key := a.Box + "/" + a.Native
		n.Dialects[key] = append(n.Dialects[key], toolname.Dialect{Name: a.Name, Foreign: a.Foreign})
	}
	return n
}

// name tells every entry what its tool is called.
func name(entries []*callable, settings *toolname.Settings) {
	byTool := map[string]*toolname.Given{}
	for _, e := range entries {
		key := e.spec.Box + "/" + e.spec.Native
		if byTool[key] == nil {
			byTool[key] = settings.Of(e.spec.Box, e.spec.Native)
		}
		byTool[key].Add(e.spec.Name, false)
	}
	for _, given := range byTool {
		given.Listed()
	}
	for _, e := range entries {
		given := byTool[e.spec.Box+"/"+e.spec.Native]
		e.spec.shown, e.native.shown = given, given
	}
}
