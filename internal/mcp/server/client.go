package server

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/text"
)

// client is what a client says of itself: once in the legacy era, and with
// every request in the modern one.
type client struct {
	version      string
	modern       bool
	capabilities json.RawMessage
	name         string
	program      string // its version
	// showsValues: it shows its model the value of a result instead of the texts, and
	// what vetters say stands in a text.
	showsValues bool

	// What it can be asked for. Without its word that it can, it cannot.
	form, page, sampling, tools, roots bool
}

// maxSaid is how much a client may say of itself: it is kept as long as the
// client is there.
const maxSaid = 64 << 10

// newClient reads what a client says of itself. ok is false if its capabilities
// are none.
func (s *Server) newClient(version string, capabilities, info json.RawMessage) (c *client, ok bool) {
	if len(capabilities)+len(info) > maxSaid {
		return &client{}, false
	}
	c = &client{version: version, modern: mcp.IsModern(version), capabilities: capabilities}
	if len(info) > 0 {
		var who struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		}
		if json.Unmarshal(info, &who) == nil {
			c.name, c.program = who.Name, who.Version
			c.showsValues = matchesName(append(textOnly(), s.cfg.TextOnly...), who.Name)
		}
	}
	if string(capabilities) == "{}" {
		return c, true
	}
	type thing map[string]json.RawMessage
	var can *struct {
		Elicitation thing `json:"elicitation"`
		Sampling    thing `json:"sampling"`
		Roots       thing `json:"roots"`
	}
	if json.Unmarshal(capabilities, &can) != nil || can == nil {
		return c, false
	}
	if e := can.Elicitation; e != nil {
		_, c.page = e["url"]
		_, c.form = e["form"]
		c.form = c.form || !c.page // at first there were only forms, and no word for them
	}
	c.sampling = can.Sampling != nil
	_, c.tools = can.Sampling["tools"]
	c.roots = can.Roots != nil
	return c, true
}

// label is the client as it names itself, fit to be read and kept.
func (c *client) label() string {
	return text.Clip(text.ShowLine(strings.TrimSpace(c.name+" "+c.program)), 80)
}

// textOnly are the clients that were seen to show structured content and to leave
// out the texts beside it.
func textOnly() []string { return []string{"claude-code*", "codex*"} }

// matchesName reports whether one of the patterns fits the name of a client, in
// which a slash is a letter like others.
func matchesName(patterns []string, name string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "/", "_") }
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		fits, err := path.Match(plain(pattern), plain(name))
		return err != nil || fits // what cannot be read is taken for the careful side
	})
}

// askable reports whether a client can be asked for anything.
func (c *client) askable() bool { return c.form || c.page || c.sampling || c.roots }

// missingCapability says what a client would have to be able to do for a request, as an
// error for whoever asked; nil: it can.
func (c *client) missingCapability(r mcp.Request) *mcp.Error {
	need := ""
	var p struct {
		Mode  string            `json:"mode"`
		Tools []json.RawMessage `json:"tools"`
	}
	if len(r.Params) > 0 && json.Unmarshal(r.Params, &p) != nil {
		return mcp.Errorf(mcp.CodeInvalidParams, "the params of %s cannot be read", r.Method)
	}
	switch r.Method {
	case mcp.MethodElicit:
		switch {
		case p.Mode == "url" && !c.page:
			need = `{"elicitation":{"url":{}}}`
		case p.Mode != "url" && !c.form:
			need = `{"elicitation":{"form":{}}}`
		}
	case mcp.MethodSample:
		switch {
		case !c.sampling:
			need = `{"sampling":{}}`
		case len(p.Tools) > 0 && !c.tools:
			need = `{"sampling":{"tools":{}}}`
		}
	case mcp.MethodRoots:
		if !c.roots {
			need = `{"roots":{}}`
		}
	default:
		return mcp.Errorf(mcp.CodeMethodNotFound, "a client cannot be asked for %q", r.Method)
	}
	if need == "" {
		return nil
	}
	e := mcp.Errorf(mcp.CodeMissingCapability, "the client does not say that it can do %s", r.Method)
	e.Data = json.RawMessage(`{"requiredCapabilities":` + need + `}`)
	return e
}

// logLevels are the levels of log messages, the least urgent first.
func logLevels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// urgentEnough reports whether a message of a level is urgent enough for a client.
func urgentEnough(least, level string) bool {
	if least == "" {
		return false
	}
	have := slices.Index(logLevels(), level)
	return have < 0 || have >= slices.Index(logLevels(), least)
}
