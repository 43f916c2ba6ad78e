package toolfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/text"
)

const maxArgs = 64

// types are those of JSON Schema that an argument can have.
func types() []string {
	return []string{"string", "integer", "number", "boolean", "array", "object"}
}

// keywords are what an argument may say besides its type. What is not here has no meaning to anybody, or is a slip.
func keywords() []string {
	return []string{
		"type", "title", "description", "default", "enum", "const", "examples", "format", "pattern", "minLength", "maxLength",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "items", "prefixItems", "minItems", "maxItems",
		"uniqueItems", "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
		"maxProperties", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$ref", "$defs", "contains", "minContains",
		"maxContains", "dependentRequired", "dependentSchemas", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType",
	}
}

// arguments reads args or schema.
func (p *parser) arguments() {
	args, short := p.raw["args"]
	full, long := p.raw["schema"]
	switch {
	case short && long:
		p.fail(p.file.Lines["schema"], "schema", "args and schema say the same thing twice: keep one of them")
	case long:
		p.fromSchema(full)
	case short:
		p.fromArgs(args)
	case p.file.Kind == Command || p.file.Kind == Script:
		p.file.Schema = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
}

// fromArgs makes a schema of the short form.
func (p *parser) fromArgs(v config.Value) {
	if v.Kind != config.Block {
		p.fail(p.line(v), "args", "expected lines such as \"path: string\", got %s", v.Kind)
		return
	}
	var properties, required bytes.Buffer
	for _, m := range v.Members {
		arg, described, ok := p.arg(m)
		if !ok {
			continue
		}
		if _, twice := p.file.Arg(arg.Name); twice {
			p.fail(arg.Line, "args", "%s is already declared", arg.Name)
			continue
		}
		p.file.Args = append(p.file.Args, arg)
		fmt.Fprintf(&properties, ",%q:%s", arg.Name, described)
		if arg.Required {
			fmt.Fprintf(&required, ",%q", arg.Name)
		}
	}
	if len(p.file.Args) > maxArgs {
		p.fail(p.line(v), "args", "there are %d arguments; at most %d can be", len(p.file.Args), maxArgs)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"type":"object","properties":{%s}`, bytes.TrimPrefix(properties.Bytes(), []byte(",")))
	if required.Len() > 0 {
		fmt.Fprintf(&b, `,"required":[%s]`, bytes.TrimPrefix(required.Bytes(), []byte(",")))
	}
	b.WriteString(`,"additionalProperties":false}`)
	p.file.Schema = b.Bytes()
	p.compiled("args", v, p.file.Schema)
}

// arg reads one argument in the short form or as a block.
func (p *parser) arg(m config.Member) (Arg, json.RawMessage, bool) {
	line := m.Line + p.shift
	name, optional := strings.CutSuffix(m.Name, "?")
	arg := Arg{Name: name, Required: !optional, Line: line}
	if !argName(name) {
		p.fail(line, "args", "%q is no name of an argument: use letters, digits, _ and -, and begin with a letter", clip(name))
		return arg, nil, false
	}
	block := m.Value
	if block.Kind == config.Text {
		var err error
		if block, err = shortForm(block); err != nil {
			p.fail(p.line(m.Value), "args."+name, "%s", err)
			return arg, nil, false
		}
	}
	if block.Kind != config.Block {
		p.fail(line, "args."+name, "expected a type such as string or integer, or a block with one, got %s", m.Value.Kind)
		return arg, nil, false
	}
	described := p.describe(&arg, &block)
	return arg, described, true
}

// describe takes out of an argument's block what is not JSON Schema, and gives the rest as such.
func (p *parser) describe(arg *Arg, block *config.Value) json.RawMessage {
	key := "args." + arg.Name
	kept := *block
	kept.Members = nil
	for _, m := range block.Members {
		line := m.Line + p.shift
		switch {
		case m.Name == "options" || m.Name == "optional" || m.Name == "required" && m.Value.Kind != config.List:
			if m.Value.Kind != config.Truth {
				p.fail(line, key+"."+m.Name, "expected true or false, got %s", m.Value.Kind)
				continue
			}
			yes := string(m.Value.JSON()) == "true"
			switch m.Name {
			case "options":
				arg.Options = yes
			case "optional":
				arg.Required = !yes
			default:
				arg.Required = yes
			}
			continue
		case m.Name == "type" && m.Value.Kind == config.Text && !slices.Contains(types(), m.Value.Text):
			if element, ok := strings.CutSuffix(m.Value.Text, "[]"); ok && slices.Contains(types(), element) {
				kept.Members = append(kept.Members, member(m, "type", "array"),
					config.Member{Name: "items", Value: config.Value{Kind: config.Block, Members: []config.Member{member(m, "type", element)}}})
				continue
			}
			p.fail(line, key, "%s", unknownType(m.Value.Text))
		case !slices.Contains(keywords(), m.Name):
			hint := ""
			if near := text.Nearest(m.Name, append(keywords(), "options", "optional")); near != "" {
				hint = "; did you mean " + near + "?"
			}
			p.fail(line, key, "unknown key %q%s", clip(m.Name), hint)
			continue
		}
		kept.Members = append(kept.Members, m)
	}
	fillArg(arg, kept)
	return kept.JSON()
}

func member(like config.Member, name, text string) config.Member {
	return config.Member{Name: name, Line: like.Line, Value: config.Value{Kind: config.Text, Text: text, Line: like.Line}}
}

// fillArg takes from a schema what placeholders go by.
func fillArg(arg *Arg, v config.Value) {
	arg.Type = typeOf(v)
	if items, ok := v.Member("items"); ok {
		arg.Items = typeOf(items)
	}
	_, enum := v.Member("enum")
	_, one := v.Member("const")
	arg.Listed = enum || one
	if words, ok := v.Member("enum"); ok {
		for _, item := range words.Items {
			arg.Enum = append(arg.Enum, item.JSON())
		}
	}
	if d, ok := v.Member("default"); ok {
		arg.Default, arg.Required = d.JSON(), false
	}
}

// typeOf is the one type of a schema; the type of its enum where it names none.
func typeOf(v config.Value) string {
	if t, ok := v.Member("type"); ok {
		if t.Kind == config.Text {
			return t.Text
		}
		return ""
	}
	enum, ok := v.Member("enum")
	if !ok || len(enum.Items) == 0 {
		return ""
	}
	for _, item := range enum.Items {
		if item.Kind != enum.Items[0].Kind {
			return ""
		}
	}
	return map[config.ValueKind]string{config.Text: "string", config.Number: "number", config.Truth: "boolean"}[enum.Items[0].Kind]
}

// shortForm reads "type", "type = default", "type[]" and "one | other = one".
func shortForm(v config.Value) (config.Value, error) {
	declared, fallback, has := strings.Cut(v.Text, "=")
	declared = strings.TrimSpace(declared)
	like := config.Member{Line: v.Line}
	out := config.Value{Kind: config.Block, Line: v.Line}
	kind := declared
	switch words := strings.Split(declared, "|"); {
	case len(words) > 1:
		enum := config.Value{Kind: config.List, Line: v.Line}
		for _, w := range words {
			if w = strings.TrimSpace(w); w == "" {
				return out, fmt.Errorf("there is an empty word among %q", clip(declared))
			}
			enum.Items = append(enum.Items, config.Value{Kind: config.Text, Text: w})
		}
		kind = "string"
		out.Members = append(out.Members, member(like, "type", kind), config.Member{Name: "enum", Line: v.Line, Value: enum})
	case slices.Contains(types(), strings.TrimSuffix(declared, "[]")):
		out.Members = append(out.Members, member(like, "type", declared))
	default:
		return out, fmt.Errorf("%s", unknownType(declared))
	}
	if has {
		value, err := fallbackOf(kind, strings.TrimSpace(fallback), v)
		if err != nil {
			return out, err
		}
		out.Members = append(out.Members, config.Member{Name: "default", Line: v.Line, Value: value})
	}
	return out, nil
}

// fallbackOf reads the default of the short form by the type that it is for.
func fallbackOf(kind, written string, v config.Value) (config.Value, error) {
	if kind == "string" && !strings.HasPrefix(written, `"`) && !strings.HasPrefix(written, "'") {
		return config.Value{Kind: config.Text, Text: written, Line: v.Line}, nil
	}
	value, problems := config.ReadValue("", []byte(written))
	want := map[string]config.ValueKind{"string": config.Text, "integer": config.Number, "number": config.Number, "boolean": config.Truth, "object": config.Block}
	kindWanted, ok := want[kind]
	if !ok {
		kindWanted = config.List
	}
	if len(problems) > 0 || value.Kind != kindWanted {
		return value, fmt.Errorf("the default %q is no %s", clip(written), kind)
	}
	return value, nil
}

func unknownType(word string) string {
	if near := text.Nearest(word, append(types(), "string[]", "integer[]", "number[]")); near != "" {
		return fmt.Sprintf("unknown type %q; did you mean %s?", clip(word), near)
	}
	return fmt.Sprintf("unknown type %q: one of %s, one of these with [] behind it, or words with | between them", clip(word), strings.Join(types(), ", "))
}

// fromSchema takes the arguments out of a JSON Schema.
func (p *parser) fromSchema(v config.Value) {
	if p.file.Schema = p.schemaOf("schema", v); p.file.Schema == nil {
		return
	}
	if t, ok := v.Member("type"); !ok || t.Text != "object" {
		p.fail(p.line(v), "schema", "the schema of the arguments needs type: object")
		return
	}
	properties, _ := v.Member("properties")
	required, _ := v.Member("required")
	for _, m := range properties.Members {
		arg := Arg{Name: m.Name, Line: m.Line + p.shift}
		arg.Required = slices.ContainsFunc(required.Items, func(r config.Value) bool { return r.Text == m.Name })
		needed := arg.Required
		fillArg(&arg, m.Value)
		arg.Required = needed && arg.Default == nil
		p.file.Args = append(p.file.Args, arg)
	}
}

// schemaOf reads a JSON Schema and has it compiled.
func (p *parser) schemaOf(key string, v config.Value) json.RawMessage {
	if v.Kind != config.Block {
		p.fail(p.line(v), key, "expected a JSON Schema (a block such as \"type: object\"), got %s", v.Kind)
		return nil
	}
	text := v.JSON()
	if !p.compiled(key, v, text) {
		return nil
	}
	return text
}

func (p *parser) compiled(key string, v config.Value, text json.RawMessage) bool {
	s, err := schema.Compile(text)
	if err != nil {
		p.fail(p.line(v), key, "%s", err)
		return false
	}
	for _, bad := range s.BadDefaults() {
		name := strings.TrimSuffix(strings.TrimPrefix(bad, "/properties/"), "/default")
		if arg, ok := p.file.Arg(name); ok && key == "args" {
			p.fail(arg.Line, "args."+name, "its default %s does not fit its type, its values or its bounds", clip(string(arg.Default)))
			continue
		}
		p.fail(p.line(v), key, "a default does not fit its own schema: %s", bad)
	}
	return true
}
