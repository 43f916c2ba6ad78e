package definition

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Format names an API's way of being told of tools.
type Format string

// The formats that [Of] writes. Those of dialects are shown with [With], by whoever knows the dialect.
const (
	OpenAI          Format = "openai"           // chat completions: an entry of tools
	OpenAIResponses Format = "openai-responses" // responses: an entry of tools
	Anthropic       Format = "anthropic"        // messages: an entry of tools
	Gemini          Format = "gemini"           // generateContent: an entry of functionDeclarations
	MCP             Format = "mcp"              // tools/list: an entry of tools
)

// Formats lists them, in the order in which they are told.
func Formats() []Format { return []Format{OpenAI, OpenAIResponses, Anthropic, Gemini, MCP} }

// Options says how definitions are written. The zero value is right for every model.
type Options struct {
	// Strict asks OpenAI to hold the model to the schema. Every property is then required, and null means left out; a
	// tool whose schema is beyond the limits of that is shown without, see Set.Loose. Other formats have no such thing.
	Strict bool
	// MaxDescription cuts descriptions of tools to so many characters, for services that refuse longer ones. Zero: none
	// is cut.
	MaxDescription int
	// MaxTools is how many tools are shown at most, for services that refuse more; [Pick] chooses them, and Set.Rest tells
	// which are not. Zero: all are.
	MaxTools int
	// Defer leaves it to the API's own search to find tools, where it has one; see [Defers]. All are deferred, or with
	// MaxTools those that are beyond it. The entry of that search comes first, and OpenAI gets a namespace for each
	// toolbox. Other formats are an error.
	Defer bool
}

// Left is a tool that was not shown as asked, and why.
type Left struct {
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

// Set is a set of definitions, and the way back from them. It is not changed any more, so it may be used from several
// goroutines.
type Set struct {
	Tools   []json.RawMessage // in the order of the tools' real names; what is deferred comes last
	Names   map[string]string // shown → real
	Left    []Left            // not shown at all
	Loose   []Left            // shown without Strict, though it was asked for
	Skipped []Left            // shown without a keyword of its schema that makes no sense, such as an unknown type
	Rest    []string          // real names of what is beyond Options.MaxTools: not shown, or deferred

	back map[string]*undo // by shown name
}

// Of writes the definitions of specs with the zero [Options].
func Of(format Format, specs []toolcrib.Entry) (Set, error) { return Options{}.Of(format, specs) }

// Of writes the definitions of specs. A tool that cannot be shown is left out and told in Left; the error is about the
// format only. The outcome does not depend on the order of specs.
func (o Options) Of(format Format, specs []toolcrib.Entry) (Set, error) {
	if !slices.Contains(Formats(), format) {
		return Set{}, fmt.Errorf("unknown format %.40q: want one of %s", format, formatNames(Formats()))
	}
	if o.Defer && !Defers(format) {
		return Set{}, fmt.Errorf("%s has no search of its own that finds deferred tools; anthropic and openai-responses do", format)
	}
	set := Set{back: map[string]*undo{}}
	later := o.beyond(specs, &set)
	if !o.Defer {
		specs = slices.DeleteFunc(slices.Clone(specs), func(s toolcrib.Entry) bool { return later[s.Name] })
	}
	naming := naming{start: format == Gemini, dots: format == Gemini || format == MCP}
	var put []deferred
	set.fill(naming, specs, func(name string, s toolcrib.Entry) (json.RawMessage, error) {
		if format == MCP {
			return o.mcpTool(name, s)
		}
		w, err := o.tool(format, name, s)
		if err != nil {
			return nil, err
		}
		if w.loose != nil {
			set.Loose = append(set.Loose, Left{s.Name, w.loose.Error()})
		}
		for _, why := range w.skipped {
			set.Skipped = append(set.Skipped, Left{s.Name, why})
		}
		set.back[name] = w.back
		if later[s.Name] {
			w.def.set("defer_loading", truth(true))
			put = append(put, deferred{box: s.Box, name: name, def: w.def})
		}
		return w.def.append(nil), nil
	})
	set.deferThese(format, put)
	return set, nil
}

// beyond tells the tools that are not shown at once.
func (o Options) beyond(specs []toolcrib.Entry, set *Set) map[string]bool {
	if o.MaxTools <= 0 && !o.Defer {
		return nil
	}
	_, rest := Pick(specs, max(o.MaxTools, 0))
	later := map[string]bool{}
	for _, s := range rest {
		later[s.Name] = true
	}
	set.Rest = slices.Sorted(maps.Keys(later))
	return later
}

// With makes a set by a function that writes one definition: for the definitions of a dialect, which are not made from
// contracts alone. Names stay as they are, and so do arguments. A tool for which show fails is left out with the error.
func With(specs []toolcrib.Entry, show func(toolcrib.Entry) (json.RawMessage, error)) Set {
	set := Set{back: map[string]*undo{}}
	set.fill(naming{dots: true}, specs, func(_ string, s toolcrib.Entry) (json.RawMessage, error) { return show(s) })
	return set
}

// fill shows one tool after the other, by name.
func (s *Set) fill(n naming, specs []toolcrib.Entry, show func(string, toolcrib.Entry) (json.RawMessage, error)) {
	specs = slices.Clone(specs)
	slices.SortFunc(specs, func(a, b toolcrib.Entry) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Box, b.Box), cmp.Compare(a.Native, b.Native), cmp.Compare(a.Dialect, b.Dialect),
			cmp.Compare(a.Title, b.Title), cmp.Compare(a.Description, b.Description), cmp.Compare(string(a.Input), string(b.Input)))
	})
	var names []string
	for _, spec := range specs {
		names = append(names, spec.Name)
	}
	shown := n.assign(names)
	s.Names = map[string]string{}
	for i, spec := range specs {
		text, err := json.RawMessage(nil), error(nil)
		switch {
		case spec.Name == "":
			err = errors.New("it has no name")
		case i > 0 && specs[i-1].Name == spec.Name:
			err = errors.New("another tool has the same name")
		default:
			text, err = show(shown[spec.Name], spec)
		}
		if err == nil && len(text) > maxToolText {
			err = fmt.Errorf("its definition has %d bytes; at most %d are shown", len(text), maxToolText)
		}
		if err != nil {
			s.Left = append(s.Left, Left{spec.Name, err.Error()})
			continue
		}
		s.Tools = append(s.Tools, text)
		s.Names[shown[spec.Name]] = spec.Name
	}
	maps.DeleteFunc(s.back, func(name string, _ *undo) bool { return s.Names[name] == "" })
	unseen := func(l Left) bool { return s.Names[shown[l.Tool]] == "" }
	s.Loose, s.Skipped = slices.DeleteFunc(s.Loose, unseen), slices.DeleteFunc(s.Skipped, unseen)
}

// Real gives the tool that is meant by a shown name.
func (s Set) Real(shown string) (string, bool) {
	name, ok := s.Names[shown]
	return name, ok
}

func formatNames(formats []Format) string {
	var names []string
	for _, f := range formats {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}
