package app

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/definition"
	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/finder"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// Cost is how many tokens a tool's definition takes in a model's context, as an
// estimate.
type Cost struct {
	Tool   string `json:"tool"`
	Box    string `json:"box"`
	Tokens int    `json:"tokens"`
}

// CostOf estimates the definitions of tools as MCP clients are shown them.
func CostOf(specs []toolcrib.Entry) ([]Cost, error) {
	set, err := definition.Of(definition.MCP, specs)
	if err != nil {
		return nil, err
	}
	boxes := map[string]string{}
	for _, s := range specs {
		boxes[s.Name] = s.Box
	}
	var out []Cost
	for _, text := range set.Tools {
		var shown struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(text, &shown); err != nil {
			return nil, err
		}
		name, ok := set.Real(shown.Name)
		if !ok {
			name = shown.Name
		}
		out = append(out, Cost{Tool: name, Box: boxes[name], Tokens: find.Tokens(string(text))})
	}
	return out, nil
}

// Shown are the tools a caller's model would be shown whole: all but those that
// stand for others.
func (a *App) Shown(caller toolcrib.Caller) []toolcrib.Entry {
	return slices.DeleteFunc(slices.Collect(a.Crib.Tools(caller)), beside)
}

// beside are tools that are not in a list of all: what they do, frontends have
// words of their own for.
func beside(s toolcrib.Entry) bool {
	return mcphub.IsShelf(s.Group, s.Native) || s.Box == finder.Name
}

// search gives the short list of tools, where the long one is not shown.
func (a *App) search(mode string, most int) func(toolcrib.Caller) *server.Search {
	if mode == settings.ExposeFull {
		return nil
	}
	return func(caller toolcrib.Caller) *server.Search {
		if mode == settings.ExposeAuto && a.total(caller) <= most {
			return nil
		}
		out := &server.Search{CallTool: finder.CallTool(), Specs: a.ShortList(caller)[1:]}
		if len(out.Specs) == 0 {
			return nil // a caller who cannot search has to be shown what there is
		}
		return out
	}
}

// ShortList is what stands for all tools where models search for them: first the
// tool that calls what was found.
func (a *App) ShortList(caller toolcrib.Caller) []toolcrib.Entry {
	list := []toolcrib.Entry{finder.CallTool()}
	for spec := range a.Crib.Tools(caller) {
		if spec.Box == finder.Name {
			list = append(list, spec)
		}
	}
	return list
}

// Find gives the tools that have to do with a text, the best first.
func (a *App) Find(caller toolcrib.Caller, query string, limit int) ([]toolcrib.Entry, []find.Hit) {
	specs := a.Shown(caller)
	return specs, finder.Rank(specs, query, limit)
}

// Formats are the forms that [Definitions] writes.
func Formats() []string {
	var names []string
	for _, f := range definition.Formats() {
		names = append(names, string(f))
	}
	return append(names, dialect.OVOS)
}

// Definitions writes tools as the APIs of models take them.
func Definitions(format string, strict bool, specs []toolcrib.Entry) (definition.Set, error) {
	if format != dialect.OVOS {
		return definition.Options{Strict: strict}.Of(definition.Format(format), specs)
	}
	return definition.With(specs, func(s toolcrib.Entry) (json.RawMessage, error) {
		return json.Marshal(dialect.Contract(dialect.OVOS, s))
	}), nil
}

// total is what the whole list costs.
func (a *App) total(caller toolcrib.Caller) int {
	costs, err := CostOf(a.Shown(caller))
	if err != nil {
		a.Crib.Log.Error("the cost of tools cannot be told, so all are shown", "err", err)
		return 0
	}
	sum := 0
	for _, c := range costs {
		sum += c.Tokens
	}
	return sum
}

// findable are the tools that can be found: those a model could be shown.
func (a *App) findable(caller toolcrib.Caller) iter.Seq[toolcrib.Entry] {
	return slices.Values(a.Shown(caller))
}
