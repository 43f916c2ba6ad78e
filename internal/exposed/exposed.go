// Package exposed says what models are shown of a crib: all tools or a few that find
// the others, as definitions in the form of their API, and what that costs of their
// context. It decides nothing about who may use what. The wiring and the command
// line import it.
package exposed

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/definition"
	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/finder"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// View is how models are shown the tools of a crib.
type View struct {
	Crib *toolcrib.Crib
	// Mode is to show all, or to have models search; auto: from Tokens on they search.
	Mode   string
	Tokens int
	Most   int // how many tools they are shown; 0: all
	Text   int // how many letters of a description; 0: all
	// Past gives what searches led to. Nil, or giving nil: nothing was learned.
	Past func() func(toolcrib.Caller) (string, func() []finder.Use)
	// Aside are boxes whose tools are found and never listed.
	Aside func() map[string]bool
}

// Cost is how many tokens a tool's definition takes in a model's context, as an
// estimate.
type Cost struct {
	Tool   string `json:"tool"`
	Box    string `json:"box"`
	Tokens int    `json:"tokens"`
}

// CostOf estimates what models are shown of tools. In the form of MCP that is what
// its clients make of a list: name, description and input schema, the latter as it
// is. The output schema, the title and the annotations go over the wire and are not
// shown.
func CostOf(format string, specs []toolcrib.Entry) ([]Cost, error) {
	set, err := definition.Of(definition.Format(format), specs)
	if err != nil {
		return nil, err
	}
	boxes := map[string]string{}
	for _, s := range specs {
		boxes[s.Name] = s.Box
	}
	var out []Cost
	for _, text := range set.Tools {
		var whole struct {
			modelTool
			Function modelTool `json:"function"`
		}
		if err := json.Unmarshal(text, &whole); err != nil {
			return nil, err
		}
		name, ok := set.Real(cmp.Or(whole.Name, whole.Function.Name))
		if !ok {
			name = cmp.Or(whole.Name, whole.Function.Name)
		}
		if format == string(definition.MCP) {
			if text, err = jsontext.Marshal(whole.modelTool); err != nil {
				return nil, err
			}
		}
		out = append(out, Cost{Tool: name, Box: boxes[name], Tokens: find.Tokens(string(text))})
	}
	return out, nil
}

// modelTool is what a client of MCP gives to its model.
type modelTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"inputSchema,omitempty"`
}

// Shown are the tools a caller's model would be shown whole: all but those that
// stand for others.
func (v View) Shown(caller toolcrib.Caller) []toolcrib.Entry {
	return slices.DeleteFunc(slices.Collect(v.Crib.Tools(caller)), Beside)
}

// Beside are tools that are not in a list of all: what they do, frontends have
// words of their own for.
func Beside(s toolcrib.Entry) bool {
	return mcphub.IsShelf(s.Group, s.Native) || s.Box == finder.Name
}

// Search gives the short list of tools, where the long one is not shown.
func (v View) Search() func(toolcrib.Caller) *server.Search {
	if v.Mode == settings.ExposeFull && v.Most == 0 && (v.Aside == nil || len(v.Aside()) == 0) {
		return nil
	}
	return func(caller toolcrib.Caller) *server.Search {
		short := v.ShortList(caller)
		if len(short) < 2 {
			return nil // a caller who cannot search has to be shown what there is
		}
		out := &server.Search{CallTool: short[0], Specs: short[1:], Unwrap: finder.Unwrap}
		if v.Mode != settings.ExposeFull && (v.Mode != settings.ExposeAuto || v.total(caller) > v.Tokens) {
			return out
		}
		all := v.Shown(caller)
		kept := v.listed(all)
		few := v.Most == 0 || len(kept) <= v.Most
		if few && len(kept) == len(all) {
			return nil
		}
		if !few {
			kept, _ = definition.Pick(kept, v.Most-len(short))
		}
		out.Specs = slices.Concat(kept, out.Specs)
		return out
	}
}

// listed leaves out what is only to be found.
func (v View) listed(all []toolcrib.Entry) []toolcrib.Entry {
	if v.Aside == nil {
		return all
	}
	aside := v.Aside()
	return slices.DeleteFunc(slices.Clone(all), func(s toolcrib.Entry) bool { return aside[s.Box] })
}

// ShortList is what stands for all tools where models search for them: first the
// tool that calls what was found.
func (v View) ShortList(caller toolcrib.Caller) []toolcrib.Entry {
	list := []toolcrib.Entry{finder.CallTool()}
	for spec := range v.Crib.Tools(caller) {
		if spec.Box == finder.Name {
			list = append(list, spec)
		}
	}
	return list
}

// Find gives the tools that have to do with a text, the best first.
func (v View) Find(caller toolcrib.Caller, query string, limit int) ([]toolcrib.Entry, []find.Hit) {
	specs := v.Shown(caller)
	var uses []finder.Use
	if v.Past != nil {
		if past := v.Past(); past != nil {
			_, all := past(caller)
			uses = all()
		}
	}
	return specs, finder.Rank(specs, uses, query, limit)
}

// Formats are the forms that [View.Definitions] writes.
func Formats() []string {
	var names []string
	for _, f := range definition.Formats() {
		names = append(names, string(f))
	}
	return append(names, dialect.OVOS)
}

// CostFormats are the forms whose costs [CostOf] tells.
func CostFormats() []string {
	return slices.DeleteFunc(Formats(), func(f string) bool { return f == dialect.OVOS })
}

// Definitions writes what a caller sees as the APIs of models take it. Where the
// options allow fewer tools than there are, and the API has no search of its own,
// the last of them are those that find and call the others.
func (v View) Definitions(caller toolcrib.Caller, format string, o definition.Options) (definition.Set, error) {
	specs := v.Shown(caller)
	if format == dialect.OVOS {
		return definition.With(specs, func(s toolcrib.Entry) (json.RawMessage, error) {
			return json.Marshal(dialect.Contract(dialect.OVOS, s))
		}), nil
	}
	var rest []string
	if short := v.ShortList(caller); o.MaxTools > 0 && o.MaxTools < len(specs) && !o.Defer && len(short) > 1 {
		kept, left := definition.Pick(specs, o.MaxTools-len(short))
		for _, s := range left {
			rest = append(rest, s.Name)
		}
		specs, o.MaxTools = slices.Concat(kept, short), 0
	}
	set, err := o.Of(definition.Format(format), specs)
	if rest != nil {
		set.Rest = rest
	}
	return set, err
}

// CallAs makes a call of what a model gave for one of the definitions of a format,
// such as openai-strict: by the name it was shown and its arguments, or with no
// name the whole of what the API gave.
func (v View) CallAs(caller toolcrib.Caller, as, name string, given json.RawMessage) (toolcrib.Call, error) {
	format, strict := strings.CutSuffix(as, strictSuffix)
	specs := slices.Concat(v.Shown(caller), v.ShortList(caller))
	set, err := definition.Options{Strict: strict}.Of(definition.Format(format), specs)
	if err != nil {
		return toolcrib.Call{}, err
	}
	var call toolcrib.Call
	if name == "" {
		call, err = set.Call(given)
	} else {
		call, err = set.CallNamed(name, given)
	}
	if err == nil {
		err = finder.Unwrap(&call)
	}
	call.Caller = caller
	return call, err
}

const strictSuffix = "-strict"

// CallFormats are the forms that [View.CallAs] reads.
func CallFormats() []string {
	var names []string
	for _, f := range definition.Formats() {
		names = append(names, string(f))
		if f == definition.OpenAI || f == definition.OpenAIResponses {
			names = append(names, string(f)+strictSuffix)
		}
	}
	return names
}

// total is what the whole list costs.
func (v View) total(caller toolcrib.Caller) int {
	costs, err := CostOf(string(definition.MCP), v.listed(v.Shown(caller)))
	if err != nil {
		v.Crib.Log.Error("the cost of tools cannot be told, so all are shown", "err", err)
		return 0
	}
	sum := 0
	for _, c := range costs {
		sum += c.Tokens
	}
	return sum
}

// Findable are the tools that can be found: those a model could be shown.
func (v View) Findable(caller toolcrib.Caller) iter.Seq[toolcrib.Entry] {
	return slices.Values(v.Shown(caller))
}
