package definition

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
	words "github.com/toolcrib/toolcrib/internal/text"
)

// written is one definition.
type written struct {
	def     *tree
	back    *undo
	loose   error    // why it is not strict, if it should have been
	skipped []string // what of the schema it does not say, because it makes no sense
}

// tool writes one definition.
func (o Options) tool(format Format, name string, spec toolcrib.Entry) (w written, err error) {
	s, skipped, err := readSchema(spec.Input)
	if err != nil {
		return written{}, err
	}
	var back *undo
	var loose error
	about := o.describe(spec)
	if s.about == spec.Description {
		s.about = ""
	}
	s.title = "" // of the arguments; the tool has its own
	var schema *tree
	strict := o.Strict && (format == OpenAI || format == OpenAIResponses)
	switch {
	case format == Gemini:
		schema, back, err = geminiFlavour().schema(s)
	case strict:
		schema, back, err = strictFlavour().schema(s)
	}
	if errors.Is(err, errLimits) {
		strict, loose, err = false, err, nil
	}
	if err != nil {
		return written{}, err
	}
	if format != Gemini && !strict {
		if schema, back, err = looseFlavour().schema(s); err != nil {
			return written{}, err
		}
	}
	t := object()
	t.set("name", text(name))
	if about != "" {
		t.set("description", text(about))
	}
	switch format {
	case Anthropic:
		t.set("input_schema", schema)
	case Gemini:
		if about == "" { // which wants one
			t.set("description", text(name))
		}
		if schema != nil {
			t.set("parameters", schema)
		}
	case OpenAI:
		t.set("parameters", schema)
		if o.Strict {
			t.set("strict", truth(strict))
		}
		f := object()
		f.set("type", text("function"))
		f.set("function", t)
		t = f
	case OpenAIResponses:
		t.members = append([]member{{"type", text("function")}}, t.members...)
		t.set("parameters", schema)
		t.set("strict", truth(strict)) // without a word it would be true
	}
	return written{t, back, loose, skipped}, nil
}

// describe gives the words for a tool, cut if they are too long.
func (o Options) describe(spec toolcrib.Entry) string {
	return o.cut(first(spec.Description, spec.Title))
}

func (o Options) cut(about string) string {
	if o.MaxDescription <= 0 {
		return about
	}
	return words.ClipSentence(about, o.MaxDescription)
}

// The parts of an MCP tool, as tools/list shows it.
type mcpDefinition struct {
	Annotations  mcpAnnotations  `json:"annotations"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	Name         string          `json:"name"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Title        string          `json:"title,omitempty"`
}

type mcpAnnotations struct {
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint,omitempty"`
	OpenWorld   bool `json:"openWorldHint"`
	ReadOnly    bool `json:"readOnlyHint,omitempty"`
}

// mcpTool shows a contract as an MCP tool. Schemas pass as they are. The annotations are derived from the declared
// effects, so that they can never promise more than guards go by.
func (o Options) mcpTool(name string, s toolcrib.Entry) (json.RawMessage, error) {
	input, err := mcpInput(s.Input)
	if err != nil {
		return nil, err
	}
	if s.Output != nil && !json.Valid(s.Output) {
		return nil, errors.New("the output schema is not JSON")
	}
	effects, readOnly := s.Leads().All(), s.Leads().ReadOnly()
	text, err := jsontext.Marshal(mcpDefinition{
		Name: name, Title: s.Title, Description: o.cut(s.Description), InputSchema: input, OutputSchema: s.Output,
		Annotations: mcpAnnotations{
			// To MCP only what adds and never replaces is not destructive.
			Destructive: effects&(toolcrib.Writes|toolcrib.Destroys|toolcrib.Runs) != 0,
			Idempotent:  s.Idempotent || readOnly,
			OpenWorld:   effects&(toolcrib.Network|toolcrib.Runs) != 0,
			ReadOnly:    readOnly,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("writing the definition: %w", err)
	}
	return text, nil
}

// mcpInput gives the schema as it is, with the word that MCP insists on: the arguments are an object, whether or not the
// contract says so.
func mcpInput(schema json.RawMessage) (json.RawMessage, error) {
	if len(schema) == 0 {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	var keywords map[string]json.RawMessage
	if json.Unmarshal(schema, &keywords) == nil && string(keywords["type"]) == `"object"` {
		return schema, nil
	}
	t, err := parse(schema)
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	switch {
	case t.truth():
		return json.RawMessage(`{"type":"object"}`), nil
	case t.kind != kindObject:
		return nil, errNoSchema
	}
	for i := range t.members {
		if m := &t.members[i]; m.key == "type" {
			m.value = text("object")
			return t.append(nil), nil
		}
	}
	t.members = append([]member{{"type", text("object")}}, t.members...)
	return t.append(nil), nil
}
