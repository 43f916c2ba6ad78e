package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The checkers know what each API accepts, from its documentation and from the refusals people report. They share
// nothing with the package but the formats' names.

type rules struct {
	keywords []string
	root     []string // keywords that may not stand at the root
	types    []string
	names    *regexp.Regexp
	props    *regexp.Regexp
	depth    int
	strict   bool
	gemini   bool
}

func rulesOf(f Format, strict bool) rules {
	wide := []string{
		"type", "description", "enum", "properties", "required", "additionalProperties", "items", "anyOf", "default", "format", "pattern",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
		"uniqueItems", "minProperties", "maxProperties",
	}
	r := rules{
		keywords: wide, root: []string{"anyOf", "enum"}, types: []string{"string", "number", "integer", "boolean", "object", "array", "null"},
		names: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), props: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`),
	}
	switch {
	case f == Gemini:
		r.keywords = []string{
			"type", "format", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties", "required", "anyOf", "minimum",
			"maximum", "minLength", "maxLength",
		}
		r.types = []string{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "OBJECT", "ARRAY"}
		r.names = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`)
		r.props, r.depth, r.gemini = r.names, 5, true
	case strict:
		r.keywords = []string{
			"type", "description", "enum", "properties", "required", "additionalProperties", "items", "anyOf", "format", "minimum", "maximum",
			"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
		}
		r.depth, r.strict = 10, true
	}
	return r
}

// tally counts what strict definitions limit in total.
type tally struct{ props, enums, text int }

// checkTool finds what an API would refuse about a definition.
func checkTool(f Format, strict bool, def []byte) error {
	var tool map[string]any
	if err := json.Unmarshal(def, &tool); err != nil {
		return err
	}
	key := "parameters"
	allowed := []string{"name", "description", key}
	switch f {
	case OpenAI:
		if tool["type"] != "function" || len(tool) != 2 {
			return fmt.Errorf("not a function: %.200s", def)
		}
		fn, ok := tool["function"].(map[string]any)
		if !ok {
			return fmt.Errorf("no function: %.200s", def)
		}
		tool, allowed = fn, append(allowed, "strict")
	case OpenAIResponses:
		if tool["type"] != "function" || tool["strict"] == nil {
			return fmt.Errorf("not a function, or strict by default: %.200s", def)
		}
		allowed = append(allowed, "type", "strict")
	case Anthropic:
		key = "input_schema"
		allowed = []string{"name", "description", key}
	case MCP:
		return checkMCP(tool)
	}
	for k := range tool {
		if !slices.Contains(allowed, k) {
			return fmt.Errorf("unknown member %q", k)
		}
	}
	if strict && tool["strict"] != true {
		strict = false
	}
	r := rulesOf(f, strict)
	name, ok := tool["name"].(string)
	if !ok || !r.names.MatchString(name) {
		return fmt.Errorf("bad name %v", tool["name"])
	}
	if tool[key] == nil && r.gemini {
		return nil
	}
	root, ok := tool[key].(map[string]any)
	if !ok {
		return fmt.Errorf("the schema is %T", tool[key])
	}
	if t, ok := root["type"].(string); !ok || !strings.EqualFold(t, "object") {
		return fmt.Errorf("the root is of type %v", root["type"])
	}
	for _, k := range r.root {
		if root[k] != nil {
			return fmt.Errorf("%s at the root", k)
		}
	}
	var n tally
	if err := r.check(root, "#", 0, &n); err != nil {
		return err
	}
	if n.enums > 1000 {
		return fmt.Errorf("%d enumerated values", n.enums)
	}
	if r.strict && (n.props > 5000 || n.text > 120_000) {
		return fmt.Errorf("over the limits: %+v", n)
	}
	return nil
}

func (r rules) check(node map[string]any, at string, depth int, n *tally) error {
	for k := range node {
		if !slices.Contains(r.keywords, k) {
			return fmt.Errorf("%s: unknown keyword %q", at, k)
		}
	}
	types, err := r.typesOf(node, at)
	if err != nil {
		return err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(t, name) })
	}
	if has("object") || has("array") {
		if depth++; r.depth > 0 && depth > r.depth {
			return fmt.Errorf("%s: %d levels deep", at, depth)
		}
	}
	if err := r.checkEnum(node, at, n); err != nil {
		return err
	}
	if p, ok := node["pattern"].(string); ok {
		if _, err := regexp.Compile(p); err != nil || strings.Contains(p, "(?") {
			return fmt.Errorf("%s: pattern %q", at, p)
		}
	}
	if f, ok := node["format"].(string); ok && r.gemini && f != "date-time" {
		return fmt.Errorf("%s: format %q", at, f)
	}
	if has("array") && node["items"] == nil {
		return fmt.Errorf("%s: an array without items", at)
	}
	if node["items"] != nil {
		items, ok := node["items"].(map[string]any)
		if !ok {
			return fmt.Errorf("%s: items is %T", at, node["items"])
		}
		if err := r.check(items, at+"/items", depth, n); err != nil {
			return err
		}
	}
	if err := r.checkObject(node, has("object"), at, depth, n); err != nil {
		return err
	}
	if alt, ok := node["anyOf"]; ok {
		parts, ok := alt.([]any)
		if !ok || len(parts) < 2 {
			return fmt.Errorf("%s: anyOf is %v", at, alt)
		}
		if r.gemini && len(node) > 1 {
			return fmt.Errorf("%s: something beside anyOf: %v", at, slices.Collect(maps.Keys(node)))
		}
		for i, p := range parts {
			part, ok := p.(map[string]any)
			if !ok {
				return fmt.Errorf("%s: anyOf holds %T", at, p)
			}
			if err := r.check(part, fmt.Sprintf("%s/anyOf/%d", at, i), depth, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r rules) typesOf(node map[string]any, at string) (types []string, err error) {
	switch t := node["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		if r.gemini {
			return nil, fmt.Errorf("%s: a list of types", at)
		}
		for _, e := range t {
			types = append(types, fmt.Sprint(e))
		}
	case nil:
		if (r.gemini || r.strict) && node["anyOf"] == nil {
			return nil, fmt.Errorf("%s: no type", at)
		}
	default:
		return nil, fmt.Errorf("%s: type is %v", at, t)
	}
	for _, t := range types {
		if !slices.Contains(r.types, t) {
			return nil, fmt.Errorf("%s: type %q", at, t)
		}
	}
	return types, nil
}

func (r rules) checkEnum(node map[string]any, at string, n *tally) error {
	if node["enum"] == nil {
		return nil
	}
	values, ok := node["enum"].([]any)
	if !ok || len(values) == 0 {
		return fmt.Errorf("%s: enum is %v", at, node["enum"])
	}
	size := 0
	for _, v := range values {
		if s, ok := v.(string); r.gemini && (!ok || s == "" || node["type"] != "STRING") {
			return fmt.Errorf("%s: enum holds %v", at, v)
		}
		size += len(fmt.Sprint(v))
	}
	if len(values) > 250 && size > 15_000 {
		return fmt.Errorf("%s: an enum of %d values and %d bytes", at, len(values), size)
	}
	n.text += size
	for _, v := range values {
		if v != nil && v != nullMark {
			n.enums++
		}
	}
	return nil
}

func (r rules) checkObject(node map[string]any, object bool, at string, depth int, n *tally) error {
	props, _ := node["properties"].(map[string]any)
	if node["properties"] != nil && props == nil {
		return fmt.Errorf("%s: properties is %T", at, node["properties"])
	}
	if r.gemini && object && len(props) == 0 {
		return fmt.Errorf("%s: an object without properties", at)
	}
	if object && node["properties"] == nil {
		return fmt.Errorf("%s: an object that says nothing of its properties", at)
	}
	must := map[string]bool{}
	if list, ok := node["required"].([]any); ok {
		for _, e := range list {
			name := fmt.Sprint(e)
			if must[name] || props[name] == nil {
				return fmt.Errorf("%s: required %q is there twice or not declared", at, name)
			}
			must[name] = true
		}
	} else if node["required"] != nil {
		return fmt.Errorf("%s: required is %T", at, node["required"])
	}
	if r.strict && object && (node["additionalProperties"] != false || len(must) != len(props)) {
		return fmt.Errorf("%s: not strict", at)
	}
	if extra, ok := node["additionalProperties"].(map[string]any); ok {
		if err := r.check(extra, at+"/additionalProperties", depth, n); err != nil {
			return err
		}
	}
	for name, v := range props {
		if !r.props.MatchString(name) {
			return fmt.Errorf("%s: property name %q", at, name)
		}
		p, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: property %q is %T", at, name, v)
		}
		n.props++
		n.text += len(name)
		if err := r.check(p, at+"/"+name, depth, n); err != nil {
			return err
		}
	}
	return nil
}

func checkMCP(tool map[string]any) error {
	for k := range tool {
		if !slices.Contains([]string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}, k) {
			return fmt.Errorf("unknown member %q", k)
		}
	}
	if in, ok := tool["inputSchema"].(map[string]any); !ok || in["type"] != "object" {
		return fmt.Errorf("inputSchema is %v", tool["inputSchema"])
	}
	return nil
}

// variants are the formats, with and without strictness.
type variant struct {
	format Format
	strict bool
}

func (v variant) String() string {
	if v.strict {
		return string(v.format) + "-strict"
	}
	return string(v.format)
}

func variants() []variant {
	return []variant{{OpenAI, false}, {OpenAI, true}, {OpenAIResponses, true}, {Anthropic, false}, {Gemini, false}, {MCP, false}}
}

// TestCheckers: a checker that finds nothing would make every test that uses it empty.
func TestCheckers(t *testing.T) {
	wrap := func(f Format, schema string) string {
		switch f {
		case OpenAI:
			return `{"type":"function","function":{"name":"a","parameters":` + schema + `,"strict":true}}`
		case Anthropic:
			return `{"name":"a","input_schema":` + schema + `}`
		}
		return `{"name":"a","parameters":` + schema + `}`
	}
	for _, c := range []struct {
		v      variant
		schema string
	}{
		{variant{OpenAI, false}, `{"type":"object","properties":{},"anyOf":[{},{}]}`},
		{variant{OpenAI, false}, `{"type":"object"}`},
		{variant{OpenAI, false}, `{"type":"object","properties":{"a":{"type":"array"}}}`},
		{variant{OpenAI, false}, `{"type":"object","properties":{"a":{"$ref":"#"}}}`},
		{variant{OpenAI, true}, `{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`},
		{variant{OpenAI, true}, `{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`},
		{variant{OpenAI, true}, `{"type":"object","properties":{"a":{"type":"string","default":"x"}},"required":["a"],"additionalProperties":false}`},
		{variant{Anthropic, false}, `{"type":"object","properties":{"$a":{}}}`},
		{variant{Anthropic, false}, `{"type":"object","properties":{"a":{"oneOf":[{},{}]}}}`},
		{variant{Gemini, false}, `{"type":"object","properties":{"a":{"type":"STRING"}}}`},
		{variant{Gemini, false}, `{"type":"OBJECT","properties":{"a":{"type":"INTEGER","enum":[1]}}}`},
		{variant{Gemini, false}, `{"type":"OBJECT","properties":{"a":{"type":"OBJECT","properties":{}}}}`},
		{variant{Gemini, false}, `{"type":"OBJECT","properties":{"a":{"type":"STRING","anyOf":[{"type":"STRING"},{"type":"NUMBER"}]}}}`},
		{variant{Gemini, false}, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["b"]}`},
	} {
		if checkTool(c.v.format, c.v.strict, []byte(wrap(c.v.format, c.schema))) == nil {
			t.Errorf("%s: nothing found in %s", c.v, c.schema)
		}
	}
	good := `{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`
	if err := checkTool(OpenAI, true, []byte(wrap(OpenAI, good))); err != nil {
		t.Error(err)
	}
}
