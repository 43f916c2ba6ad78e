package server

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// The headers of the protocol.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerParam   = "Mcp-Param-"
	headerSession = "Mcp-Session-Id"
)

// repeated names a header of the protocol that is there more than once: what
// stands between may go by another of its values than we do.
func repeated(h http.Header) string {
	for name, values := range h {
		if len(values) < 2 {
			continue
		}
		switch name {
		case headerVersion, headerMethod, headerName, headerSession:
			return name
		}
		if strings.HasPrefix(name, headerParam) {
			return name
		}
	}
	return ""
}

// checkHeaders holds the headers of a modern request to its body: what stands
// between goes by them, and must not be told something else than we are.
func (s *Server) checkHeaders(h http.Header, m *mcp.Message, p *params) *mcp.Error {
	mismatch := func(format string, args ...any) *mcp.Error {
		return mcp.Errorf(mcp.CodeHeaderMismatch, format, args...)
	}
	sent, version := h.Get(headerVersion), p.version()
	switch {
	case sent == "":
		return mismatch("the header MCP-Protocol-Version is missing")
	case version == "":
		return mcp.Errorf(mcp.CodeInvalidParams, "_meta has no %q", mcp.MetaVersion)
	case sent != version:
		return mismatch("the header MCP-Protocol-Version is %q, but the request says %q", sent, version)
	case !mcp.Known(version) || !mcp.IsModern(version):
		return unsupported(version)
	}
	switch sent := h.Get(headerMethod); {
	case sent == "":
		return mismatch("the header Mcp-Method is missing")
	case sent != m.Method:
		return mismatch("the header Mcp-Method is %q, but the request is %q", sent, m.Method)
	}
	named := p.Name
	switch m.Method {
	case mcp.MethodResourcesRead:
		named = p.URI
	case mcp.MethodToolsCall, mcp.MethodPromptsGet:
	default:
		return nil
	}
	name, ok := jsonText(named)
	if !ok {
		return nil // the request itself is at fault, and is told so
	}
	switch sent, ok := headerText(h.Get(headerName)); {
	case !ok:
		return mismatch("the header Mcp-Name cannot be read")
	case sent == "" && h.Get(headerName) == "":
		return mismatch("the header Mcp-Name is missing")
	case sent != name:
		return mismatch("the header Mcp-Name is %q, but the request names %q", sent, name)
	}
	if m.Method != mcp.MethodToolsCall {
		return nil
	}
	return checkMirrors(h, s.list().mirrors[name], p.Arguments)
}

// mirror is an argument that a client repeats in a header.
type mirror struct {
	path   []string
	header string
	kind   string // string, integer or boolean
}

// findMirrors finds the arguments that a contract wants repeated. An error means
// that clients would not take the tool.
func findMirrors(schema json.RawMessage) ([]mirror, error) {
	if !strings.Contains(string(schema), `"x-mcp-header"`) { // nearly all
		return nil, nil
	}
	type node struct {
		Type       json.RawMessage            `json:"type"`
		Header     json.RawMessage            `json:"x-mcp-header"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var out []mirror
	seen := map[string]bool{}
	var walk func(text json.RawMessage, path []string) error
	walk = func(text json.RawMessage, path []string) error {
		var n node
		// One that is true or false, or broken, has nothing in it.
		if readable := json.Unmarshal(text, &n) == nil; readable && n.Header != nil {
			kind, _ := jsonText(n.Type)
			name, ok := jsonText(n.Header)
			where := strings.Join(path, ".")
			switch {
			case len(path) == 0 || kind != "string" && kind != "integer" && kind != "boolean":
				return fmt.Errorf("x-mcp-header of %q: only a string, an integer or a boolean can be repeated in a header", where)
			case !ok || !isToken(name):
				return fmt.Errorf("x-mcp-header of %q is no name of a header", where)
			case seen[strings.ToLower(name)]:
				return fmt.Errorf("x-mcp-header of %q: another argument has the same header", where)
			}
			seen[strings.ToLower(name)] = true
			out = append(out, mirror{path: append([]string(nil), path...), header: headerParam + name, kind: kind})
		}
		for name, inner := range n.Properties {
			if err := walk(inner, append(path, name)); err != nil {
				return err
			}
		}
		return nil
	}
	return out, walk(schema, nil)
}

// isToken reports whether a text can be part of the name of a header.
func isToken(s string) bool {
	return s != "" && strings.Trim(s, mcp.HeaderLetters) == ""
}

// checkMirrors holds the headers to the arguments that they repeat.
func checkMirrors(h http.Header, mirrors []mirror, arguments json.RawMessage) *mcp.Error {
	for _, m := range mirrors {
		value := arguments
		for _, step := range m.path {
			value = objectMembers(value)[step]
		}
		sent := h.Get(m.header)
		where := strings.Join(m.path, ".")
		if len(value) == 0 || string(value) == "null" {
			if h.Values(m.header) != nil {
				return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is there, but the argument %s is not", m.header, where)
			}
			continue
		}
		if h.Values(m.header) == nil {
			return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s for the argument %s is missing", m.header, where)
		}
		text, ok := headerText(sent)
		if !ok || !mirrored(text, value) {
			return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is not what the argument %s is", m.header, where)
		}
	}
	return nil
}

// mirrored reports whether a header says what an argument is.
func mirrored(text string, value json.RawMessage) bool {
	if s, ok := jsonText(value); ok {
		return text == s
	}
	if string(value) == "true" || string(value) == "false" {
		return text == string(value)
	}
	// 3, 3.0 and 3e0 are one number; beyond 53 bits not every program has it.
	const most = 1<<53 - 1
	want, err := strconv.ParseFloat(string(value), 64)
	if err != nil || want != float64(int64(want)) || want > most || want < -most {
		return false
	}
	got, err := strconv.ParseFloat(text, 64)
	return err == nil && got == want
}

// headerText reads the value of a header, which may be wrapped because it has
// letters that headers have not.
func headerText(value string) (string, bool) {
	coded, ok := strings.CutPrefix(value, "=?base64?")
	if !ok {
		return value, true
	}
	if coded, ok = strings.CutSuffix(coded, "?="); !ok {
		return value, true
	}
	text, err := base64.StdEncoding.DecodeString(coded)
	return string(text), err == nil
}
