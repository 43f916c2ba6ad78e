package suggest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Example is a call that a rule is about, made up to be judged, and as a person reads
// it. False: nobody can say one, as for a group.
func Example(rule, home string, specs []toolcrib.Entry) (call toolcrib.Call, shown string, ok bool) {
	name, spec, scoped := strings.Cut(strings.TrimSpace(rule), "(")
	name, spec = strings.TrimSpace(name), strings.TrimSpace(strings.TrimSuffix(spec, ")"))
	i := slices.IndexFunc(specs, func(e toolcrib.Entry) bool { // before any that a server calls so
		return e.Name == name || e.Box+"/"+e.Native == name || e.Box+"__"+e.Native == name
	})
	if i < 0 {
		i = slices.IndexFunc(specs, func(e toolcrib.Entry) bool { return slices.Contains(e.Names(), name) || e.Called(name) })
	}
	if i < 0 {
		return call, "", false
	}
	entry := &specs[i]
	input, ok := required(entry.Input)
	if !ok {
		return call, "", false
	}
	if !scoped || spec == "*" {
		spec = map[string]string{"command": "touch example", "path": "example", "url": "domain:example.com"}[about(entry)]
	}
	shown = entry.Name
	switch key := about(entry); {
	case spec == "":
	case strings.HasPrefix(spec, "domain:"):
		host := strings.Replace(strings.TrimPrefix(spec, "domain:"), "*.", "www.", 1)
		input["url"] = "https://" + host + "/"
		shown += " https://" + host + "/"
	case key == "command":
		line := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(spec, ":*"), " *"))
		input[key], shown = line, line
	case key == "path":
		file := strings.NewReplacer("**", "example", "*", "example", "?", "x").Replace(strings.TrimPrefix(spec, "./"))
		if rest, ok := strings.CutPrefix(file, "~/"); ok {
			file = home + "/" + rest
		}
		if strings.ContainsAny(file, "{[") {
			return call, "", false
		}
		input[key] = file
		shown += " " + file
	default:
		arg, value, ok := strings.Cut(spec, ":")
		if !ok {
			return call, "", false
		}
		input[arg] = strings.TrimSpace(value)
		shown += " " + arg + "=" + strings.TrimSpace(value)
	}
	text, err := json.Marshal(input)
	return toolcrib.Call{Tool: entry.Name, Input: text}, shown, err == nil
}

// about is the argument that the brackets of a rule for a tool mean.
func about(e *toolcrib.Entry) string {
	switch e.Box {
	case "shell":
		return "command"
	case "files":
		return "path"
	case "web":
		return "url"
	}
	return ""
}

// required makes up the arguments that a tool cannot do without.
func required(schema json.RawMessage) (map[string]any, bool) {
	var s struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type any   `json:"type"`
			Enum []any `json:"enum"`
		} `json:"properties"`
	}
	out := map[string]any{}
	if len(schema) == 0 {
		return out, true
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil, false
	}
	for _, name := range s.Required {
		p := s.Properties[name]
		if len(p.Enum) > 0 {
			out[name] = p.Enum[0]
			continue
		}
		switch p.Type {
		case "integer", "number":
			out[name] = 1
		case "boolean":
			out[name] = true
		case "array":
			out[name] = []any{}
		case "object":
			out[name] = map[string]any{}
		default:
			out[name] = "example"
		}
	}
	return out, true
}
