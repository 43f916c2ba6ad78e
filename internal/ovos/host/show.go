package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// boxAnswer is what one toolbox answers to a discovery.
type boxAnswer struct {
	Tools     []json.RawMessage `json:"tools"`
	ToolboxID string            `json:"toolbox_id"`
}

type listAnswer struct {
	Tools []json.RawMessage `json:"tools"`
}

// reloadAnswer is that of both generations at once. Faults are what could not
// be loaded, which no Python host tells.
type reloadAnswer struct {
	Loaded     []string          `json:"loaded"`
	TotalTools int               `json:"total_tools"`
	Tools      []json.RawMessage `json:"tools"`
	Faults     []string          `json:"faults,omitempty"`
	Detail     string            `json:"detail,omitempty"`
}

// failure is the answer to a question about a tool that is not there.
type failure struct {
	Error  string `json:"error"`
	Detail string `json:"detail,omitempty"`
}

// shown is a tool with its contract as it goes over the bus.
type shown struct {
	box      string // its id
	contract json.RawMessage
}

// tools gives what exists for a caller and is shown on the bus, by name. Within
// its toolbox, a tool of the field has the name that its toolbox knows it by.
func (h *Host) tools(caller toolcrib.Caller, within bool) []shown {
	var list []shown
	for spec := range h.cfg.Crib.Tools(caller) {
		if within && !h.visible(spec.Box) || !within && !h.shows(spec.Box) {
			continue
		}
		if within && h.worded(spec.Box) {
			spec.Name = spec.Native
		}
		text, err := h.contract(spec)
		if err != nil { // one contract from elsewhere must not take the others with it
			h.cfg.Log.Error("a tool cannot be shown on the bus", "tool", spec.Name, "err", err)
			continue
		}
		list = append(list, shown{h.cfg.BoxID(spec.Box), text})
	}
	return list
}

// tool gives one of them.
func (h *Host) tool(caller toolcrib.Caller, name string) (toolcrib.Entry, bool) {
	spec, ok := h.cfg.Crib.Tool(caller, name)
	return spec, ok && h.shows(spec.Box)
}

// boxes gives the toolboxes there are for a caller, with their tools.
func (h *Host) boxes(caller toolcrib.Caller) map[string][]json.RawMessage {
	found := map[string][]json.RawMessage{}
	for id := range h.empty() {
		found[id] = []json.RawMessage{}
	}
	for _, t := range h.tools(caller, true) {
		found[t.box] = append(found[t.box], t.contract)
	}
	return found
}

// discover has every toolbox tell what it has. Each is read anew first; one
// that takes too long for that tells what it had.
func (h *Host) discover(r request) {
	ctx, cancel := context.WithTimeout(h.life, h.cfg.LoadTimeout)
	defer cancel()
	if _, err := h.loads.fresh(ctx); err != nil {
		h.cfg.Log.Warn("toolboxes are shown as they were: reading them anew takes too long", "err", err)
	}
	found := h.boxes(h.caller(r.Message))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		tell := func(r request) { h.answer(r, boxAnswer{found[id], id}) }
		h.rivals.ours(id, r, true, func() { h.query(r, tell) })
	}
}

func (h *Host) list(r request) {
	h.answer(r, listAnswer{h.contracts(h.caller(r.Message))})
}

func (h *Host) contracts(caller toolcrib.Caller) []json.RawMessage {
	list := []json.RawMessage{}
	for _, t := range h.tools(caller, false) {
		list = append(list, t.contract)
	}
	return list
}

func (h *Host) get(r request) {
	name := pythonValue(r.data["name"])
	switch spec, ok := h.named(h.caller(r.Message), name); {
	case name.falsy:
		h.answer(r, failure{Error: missingName})
	case name.unhashable != "":
		h.answer(r, failure{unhashable(name), nameIsText})
	case !ok:
		h.answer(r, failure{Error: unknownTool(name)})
	default:
		text, err := h.contract(spec)
		if err != nil {
			h.answer(r, failure{unknownTool(name), "the tool cannot be shown on the bus: " + err.Error()})
			return
		}
		h.answer(r, text)
	}
}

// named finds the tool that a value names. Only a text names one.
func (h *Host) named(caller toolcrib.Caller, name value) (toolcrib.Entry, bool) {
	if name.kind != "str" {
		return toolcrib.Entry{}, false
	}
	return h.tool(caller, name.text)
}

// reload has everything read anew, and tells what there is then and what could
// not be loaded.
func (h *Host) reload(r request) {
	ctx, cancel := context.WithTimeout(h.life, h.cfg.LoadTimeout)
	defer cancel()
	faults, err := h.reloads.fresh(ctx)
	h.service(r, true, func() { h.query(r, func(r request) { h.reloaded(r, faults, err) }) })
}

// reloaded tells what there is after a reload.
func (h *Host) reloaded(r request, faults []toolcrib.LoadError, err error) {
	caller := h.caller(r.Message)
	out := reloadAnswer{Loaded: slices.Sorted(maps.Keys(h.boxes(caller))), Tools: h.contracts(caller)}
	out.TotalTools = len(out.Tools)
	if out.Loaded == nil {
		out.Loaded = []string{}
	}
	for _, f := range faults {
		out.Faults = append(out.Faults, text.Clip(f.Error(), maxDetail))
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		out.Detail = "reading everything anew takes longer than " + h.cfg.LoadTimeout.String() + "; this is what there was before"
	case err != nil:
		out.Detail = "not everything was read anew: " + err.Error()
	}
	h.answer(r, out)
}

// contract is a tool's contract as it goes over the bus, where arguments and
// results are always objects.
func (h *Host) contract(spec toolcrib.Entry) (json.RawMessage, error) {
	spec.Output = outputSchema(spec.Output)
	return sound(h.cfg.Contract(spec))
}

// outputSchema is the schema of what object makes of a result.
func outputSchema(schema json.RawMessage) json.RawMessage {
	if schema == nil {
		return json.RawMessage(`{"properties":{"content":{"title":"Content","type":"string"}},"required":["content"],"title":"ToolOutput","type":"object"}`)
	}
	var shape struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(schema, &shape) == nil && (shape.Type == "object" || shape.Type == nil) {
		return schema
	}
	inner := schema
	if bytes.Contains(schema, []byte(`"$ref"`)) { // it would point to another place from in there
		inner = json.RawMessage("{}")
	}
	wrapped, err := json.Marshal(map[string]any{
		"properties": map[string]any{"result": inner}, "required": []string{"result"}, "title": "ToolOutput", "type": "object",
	})
	if err != nil {
		return json.RawMessage(`{"type":"object"}`) // a schema is JSON, or the tool is not on the shelf
	}
	return wrapped
}
