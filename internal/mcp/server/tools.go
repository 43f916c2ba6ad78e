package server

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// toolList is the list of tools as clients get it: written once, when the
// catalog has changed, and handed out as it is.
type toolList struct {
	legacy, modern [][]byte // the pages
	// texts gives the pages for a client of the era that shows its model the value of a
	// result instead of its texts: without the schemas of values. They are made when
	// somebody wants them.
	texts   map[bool]func() [][]byte
	search  *Search
	mirrors map[string][]mirror // arguments that are repeated in headers, by tool
}

func (l *toolList) same(m *toolList) bool {
	equal := func(a, b [][]byte) bool {
		for i := range min(len(a), len(b)) {
			if !bytes.Equal(a[i], b[i]) {
				return false
			}
		}
		return len(a) == len(b)
	}
	return equal(l.legacy, m.legacy) && equal(l.modern, m.modern)
}

// toolList writes the list of what this caller sees now. One contract that
// cannot be shown does not take the others with it.
func (s *Server) toolList() *toolList {
	l := &toolList{mirrors: map[string][]mirror{}}
	if s.cfg.Search != nil {
		l.search = s.cfg.Search(s.caller)
	}
	var legacy, modern, texts []json.RawMessage
	show := func(spec toolcrib.Entry) {
		mirrors, err := findMirrors(spec.Input)
		if err != nil {
			s.cfg.Log.Error("tool cannot be shown over MCP", "tool", spec.Name, "err", err)
			return
		}
		if mirrors != nil {
			l.mirrors[spec.Name] = mirrors
		}
		text, bare := json.RawMessage(s.contract(&spec, true)), json.RawMessage(nil)
		if bare = text; spec.Output != nil {
			bare = s.contract(&spec, false)
		}
		modern, texts = append(modern, text), append(texts, bare)
		if spec.Output != nil && !isObjectSchema(spec.Output) { // only objects had one at first
			text = bare
		}
		legacy = append(legacy, text)
	}
	if l.search != nil {
		for _, spec := range l.search.Specs {
			show(spec)
		}
		show(l.search.CallTool)
	} else {
		for spec := range s.cfg.Crib.Tools(s.caller) {
			if s.cfg.Hidden == nil || !s.cfg.Hidden(spec) {
				show(spec)
			}
		}
	}
	l.legacy, l.modern = s.pages("tools", legacy, false), s.pages("tools", modern, true)
	l.texts = map[bool]func() [][]byte{}
	for _, era := range []bool{false, true} {
		l.texts[era] = sync.OnceValue(func() [][]byte { return s.pages("tools", texts, era) })
	}
	return l
}

func (s *Server) listTools(v *clientRequest) (json.RawMessage, error) {
	l := s.list()
	pages := l.legacy
	switch {
	case v.client.showsValues:
		pages = l.texts[v.client.modern]()
	case v.client.modern:
		pages = l.modern
	}
	at, err := readCursor("tools", v.params.Cursor, len(pages))
	if err != nil {
		return nil, err
	}
	return pages[at], nil
}

// contract shows a Spec as an MCP tool. The annotations are derived from the
// declared effects, so that they can never promise more than guards go by; what
// a foreign supplier adds stands beside them.
func (s *Server) contract(spec *toolcrib.Entry, output bool) []byte {
	var more map[string]json.RawMessage
	if s.cfg.Definition != nil {
		more = objectMembers(s.cfg.Definition(*spec))
	}
	var o object
	o.text("name", spec.Name)
	if spec.Title != "" {
		o.text("title", spec.Title)
	} else if _, ok := jsonText(more["title"]); ok {
		o.raw("title", more["title"])
	}
	switch most := s.cfg.MaxDescription; {
	case spec.Description == "":
	case most > 0:
		o.text("description", text.ClipSentence(spec.Description, most))
	default:
		o.text("description", spec.Description)
	}
	o.raw("inputSchema", readable(inputSchema(spec.Input)))
	if spec.Output != nil && output {
		o.raw("outputSchema", readable(spec.Output))
	}
	o.raw("annotations", annotations(spec, objectMembers(more["annotations"])["title"]))
	if spec.Box != "" { // clients that take only some of the tools can choose by it
		var meta object
		meta.text(boxKey, spec.Box)
		meta.rest(objectMembers(more["_meta"]), boxKey)
		o.raw("_meta", meta.end())
		delete(more, "_meta")
	}
	o.rest(more, "name", "title", "description", "inputSchema", "outputSchema", "annotations")
	return oneLine(o.end())
}

func annotations(spec *toolcrib.Entry, title json.RawMessage) []byte {
	effects, readOnly := spec.Leads().All(), spec.Leads().ReadOnly()
	var o object
	if _, ok := jsonText(title); ok {
		o.raw("title", title)
	}
	o.flag("readOnlyHint", readOnly)
	// To MCP only what adds and never replaces is not destructive.
	o.flag("destructiveHint", effects&(toolcrib.Writes|toolcrib.Destroys|toolcrib.Runs) != 0)
	o.flag("idempotentHint", spec.Idempotent || readOnly)
	o.flag("openWorldHint", effects&(toolcrib.Network|toolcrib.Runs) != 0)
	return o.end()
}

// inputSchema gives the schema as it is, with the word MCP insists on: the
// arguments are an object, whether or not the contract says so.
func inputSchema(text json.RawMessage) json.RawMessage {
	if isObjectSchema(text) {
		return text
	}
	m := objectMembers(text)
	if m == nil { // true, or nothing at all
		return json.RawMessage(`{"type":"object"}`)
	}
	var o object
	o.text("type", "object")
	o.rest(m, "type")
	return o.end()
}

func isObjectSchema(text json.RawMessage) bool {
	var s struct {
		Type json.RawMessage `json:"type"`
	}
	return json.Unmarshal(text, &s) == nil && string(s.Type) == `"object"`
}

// searched turns a call of the tool that calls others into the call of the
// other.
func (l *toolList) searched(call *toolcrib.Call) (isSearch bool, err error) {
	if l.search == nil || call.Tool != l.search.CallTool.Name {
		return false, nil
	}
	return true, l.search.Unwrap(call)
}
