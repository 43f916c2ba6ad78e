package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// headers are those of a modern request: what intermediaries route by.
func (r *request) headers(h http.Header) error {
	h["Mcp-Protocol-Version"] = []string{r.version}
	h["Mcp-Method"] = []string{r.method}
	var subject json.RawMessage
	switch r.method {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet:
		subject = jsontext.Lookup(r.params, "name")
	case mcp.MethodResourcesRead:
		subject = jsontext.Lookup(r.params, "uri")
	default:
		return nil
	}
	var name string
	if err := json.Unmarshal(subject, &name); err != nil {
		return mcp.Errorf(mcp.CodeInvalidParams, "%s does not say what it is about", r.method)
	}
	h["Mcp-Name"] = []string{encode(name)}
	if len(r.mirror) == 0 {
		return nil
	}
	arguments := jsontext.Lookup(r.params, "arguments")
	for path, header := range r.mirror {
		value, ok := primitive(at(arguments, path))
		if ok {
			h[http.CanonicalHeaderKey("Mcp-Param-"+header)] = []string{encode(value)}
		}
	}
	return nil
}

// at gives the argument at a path, nil if there is none.
func at(arguments json.RawMessage, path string) json.RawMessage {
	for step := range strings.SplitSeq(path, "/") {
		if arguments = jsontext.Lookup(arguments, unescape(step)); arguments == nil {
			return nil
		}
	}
	return arguments
}

// primitive is a value as it stands in a header: strings, booleans and whole
// numbers that every language has as they are.
func primitive(value json.RawMessage) (string, bool) {
	if len(value) == 0 {
		return "", false
	}
	switch value[0] {
	case '"':
		var s string
		if json.Unmarshal(value, &s) != nil {
			return "", false
		}
		return s, true
	case 't', 'f':
		return string(value), true
	case 'n', '{', '[':
		return "", false
	}
	const safe = 1<<53 - 1
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n >= -safe && n <= safe {
		return strconv.FormatInt(n, 10), true
	}
	f, err := strconv.ParseFloat(string(value), 64) // 1e3, 2.0
	if err != nil || f < -safe || f > safe || f != float64(int64(f)) {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

const opening, closing = "=?base64?", "?="

// encode makes a text fit for a header: what could be changed on the way, or
// mistaken for what is encoded, is encoded.
func encode(text string) string {
	plain := text == "" || text[0] != ' ' && text[len(text)-1] != ' '
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= 0x20 && text[i] <= 0x7e
	}
	if plain && !(strings.HasPrefix(text, opening) && strings.HasSuffix(text, closing)) {
		return text
	}
	return opening + base64.StdEncoding.EncodeToString([]byte(text)) + closing
}

// Mirrors reads which arguments of a tool its server wants repeated in headers,
// for Call.Mirror: the path of an argument, with / between its names, and the
// name of the header. An error means that the tool must not be used.
func Mirrors(inputSchema json.RawMessage) (map[string]string, error) {
	if !annotated(inputSchema) {
		return nil, nil
	}
	m := mirrors{found: map[string]string{}, taken: map[string]bool{}}
	if !json.Valid(inputSchema) {
		return nil, fmt.Errorf("the schema is no JSON")
	}
	if err := m.schema(inputSchema, nil, true, 0); err != nil {
		return nil, err
	}
	if len(m.found) == 0 {
		return nil, nil
	}
	return m.found, nil
}

const annotation = "x-mcp-header"

// annotated is a first look: most schemas have nothing to read here. The name
// may be written with escapes.
func annotated(text json.RawMessage) bool {
	return bytes.Contains(text, []byte(annotation)) || bytes.Contains(text, []byte(`\u`))
}

type mirrors struct {
	found map[string]string
	taken map[string]bool
}

// schema looks through a schema. Reachable: everything above it is a property,
// so that a call has exactly one value for it.
func (m *mirrors) schema(text json.RawMessage, path []string, reachable bool, depth int) error {
	if depth > 64 {
		return fmt.Errorf("the schema is nested too deeply")
	}
	var fault error
	var header, typ json.RawMessage
	has := false
	err := jsontext.Members(text, func(e jsontext.Member) bool {
		switch e.Key {
		case annotation:
			header, has = e.Value, true
		case "type":
			typ = e.Value
		case "properties":
			fault = m.properties(e.Value, path, reachable, depth)
		case "const", "enum", "default", "examples": // values, not schemas
		default:
			fault = m.refuseNested(e.Value, path, depth)
		}
		return fault == nil
	})
	if err != nil {
		return nil //nolint:nilerr // true and false are schemas too, and say nothing
	}
	if fault != nil || !has {
		return fault
	}
	return m.record(header, typ, path, reachable)
}

func (m *mirrors) properties(text json.RawMessage, path []string, reachable bool, depth int) error {
	var fault error
	err := jsontext.Members(text, func(e jsontext.Member) bool {
		fault = m.schema(e.Value, append(slices.Clone(path), e.Key), reachable, depth+1)
		return fault == nil
	})
	if err != nil {
		return fmt.Errorf("%s: its properties are no object", place(path))
	}
	return fault
}

// refuseNested looks for annotations where none may stand.
func (m *mirrors) refuseNested(text json.RawMessage, path []string, depth int) error {
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || !annotated(text) {
		return nil
	}
	if text[0] == '{' {
		// A schema, or schemas by name: an annotation in either is one too many.
		return m.schema(text, path, false, depth+1)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("%s: %w", place(path), err)
	}
	for _, e := range list {
		if err := m.refuseNested(e, path, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// record takes down an annotation.
func (m *mirrors) record(header, typ json.RawMessage, path []string, reachable bool) error {
	var name, kind string
	if json.Unmarshal(header, &name) != nil || name == "" {
		return fmt.Errorf("%s: %s is no name of a header", place(path), annotation)
	}
	if strings.Trim(name, mcp.HeaderLetters) != "" {
		return fmt.Errorf("%s: %s %q is no name of a header", place(path), annotation, printable(name))
	}
	if !reachable || len(path) == 0 {
		return fmt.Errorf("%s: %s stands where a call has no single value for it", place(path), annotation)
	}
	if json.Unmarshal(typ, &kind) != nil || kind != "string" && kind != "integer" && kind != "boolean" {
		return fmt.Errorf("%s: %s is only for strings, integers and booleans", place(path), annotation)
	}
	lower := strings.ToLower(name)
	if m.taken[lower] {
		return fmt.Errorf("%s: %s %q is used twice", place(path), annotation, name)
	}
	m.taken[lower] = true
	steps := make([]string, len(path))
	for i, step := range path {
		steps[i] = escape(step)
	}
	m.found[strings.Join(steps, "/")] = name
	return nil
}

func place(path []string) string {
	if len(path) == 0 {
		return "the schema"
	}
	return printable(strings.Join(path, "."))
}

func escape(step string) string {
	return strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
}

func unescape(step string) string {
	if !strings.Contains(step, "~") {
		return step
	}
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}
