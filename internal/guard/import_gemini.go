package guard

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// ImportGemini reads a policy file of the Gemini CLI. There the highest priority
// wins, here the strictest decision: where an allow would have won over a
// stricter rule, that is told.
func ImportGemini(data []byte) (Imported, error) {
	im, err := newImporter(data)
	if err != nil {
		return Imported{}, err
	}
	tables, err := parseTOML(string(data))
	if err != nil {
		return Imported{}, fmt.Errorf("reading the policy: %w", err)
	}
	var strict float64 // the lowest priority of a rule that takes away
	taking := false
	for _, t := range tables {
		if g := geminiOf(t); t.name == "rule" && g.decision != "allow" && (!taking || g.priority < strict) {
			strict, taking = g.priority, true
		}
	}
	for _, t := range tables {
		at := fmt.Sprintf("line %d", t.line)
		if t.name != "rule" {
			for _, k := range t.keys {
				im.left(fmt.Sprintf("line %d", k.line), strings.TrimPrefix(t.name+"."+k.name, "."), "it is not part of a rule")
			}
			if t.name != "" && len(t.keys) == 0 {
				im.left(at, t.name, "it is not a rule")
			}
			continue
		}
		g := geminiOf(t)
		if im.geminiRule(at, g) && g.decision == "allow" && taking && g.priority > strict {
			im.partly(at, g.text, "priorities are not known here: a stricter rule wins even if its priority is lower")
		}
	}
	return im.Imported, nil
}

// gemini is one rule.
type gemini struct {
	text, decision, server string
	priority               float64
	tools, prefixes        []string
	message, agent         string
	odd                    []string // what narrows it in a way that is not known here
	bad                    string
}

func geminiOf(t tomlTable) gemini {
	g := gemini{}
	var parts []string
	for _, k := range t.keys {
		parts = append(parts, k.name+" = "+k.value.String())
		switch k.name {
		case "toolName":
			g.tools = k.value.texts()
		case "mcpName":
			g.server = k.value.text
		case "commandPrefix":
			g.prefixes = k.value.texts()
		case "decision":
			g.decision = k.value.text
		case "priority":
			p, err := strconv.ParseFloat(strings.ReplaceAll(k.value.text, "_", ""), 64)
			if err != nil || k.value.kind != 's' {
				g.bad = "its priority is not a number"
			}
			g.priority = p
		case "denyMessage":
			g.message = k.value.text
		case "subagent":
			g.agent = k.value.text
		case "allowRedirection":
			if k.value.text != "false" {
				g.odd = append(g.odd, k.name)
			}
		default: // commandRegex, argsPattern, toolAnnotations, modes, interactive, …
			g.odd = append(g.odd, k.name)
		}
	}
	g.text = strings.Join(parts, ", ")
	return g
}

func (v tomlValue) texts() []string {
	if v.kind != 'l' {
		return []string{v.text}
	}
	var out []string
	for _, e := range v.list {
		out = append(out, e.text)
	}
	return out
}

func (v tomlValue) String() string {
	switch v.kind {
	case 't':
		return strconv.Quote(v.text)
	case 'l':
		var out []string
		for _, e := range v.list {
			out = append(out, e.String())
		}
		return "[" + strings.Join(out, ", ") + "]"
	case 'm':
		var out []string
		for _, k := range v.table {
			out = append(out, k.name+" = "+k.value.String())
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	return v.text
}

// geminiRule carries a rule over; false if none of it was.
func (im *importer) geminiRule(at string, g gemini) bool {
	d := toolcrib.Deny
	switch g.decision {
	case "deny":
	case "ask_user":
		d = toolcrib.Ask
	case "allow":
		d = toolcrib.Allow
	default:
		g.bad = "its decision is not known"
	}
	if len(g.odd) > 0 && g.bad == "" {
		// Without what narrows it, an allow would be wider. A rule that takes
		// away would take more: that is for a person to want.
		g.bad = "nothing here is like its " + strings.Join(g.odd, ", ")
	}
	if g.bad != "" {
		im.left(at, g.text, g.bad)
		return false
	}
	if len(g.tools) == 0 {
		g.tools = []string{"*"}
	}
	c := Condition{Message: g.message}
	if g.agent != "" {
		c.When = "caller.agent == " + strconv.Quote(g.agent)
	}
	put := false
	for _, tool := range g.tools {
		name, ok := geminiTool(tool, g.server)
		if !ok {
			im.left(at, g.text, "there is no tool like "+show(tool))
			continue
		}
		c.Tool = name
		if len(g.prefixes) == 0 {
			put = im.put(d, at, g.text, c) || put
			continue
		}
		for _, prefix := range g.prefixes {
			c.Tool = name + "(" + strings.TrimSpace(prefix) + " *)"
			put = im.put(d, at, g.text, c) || put
		}
	}
	return put
}

func geminiTool(name, server string) (string, bool) {
	if server != "" {
		if !nameChars(server, true) {
			return "", false
		}
		if name == "*" {
			return "mcp__" + server, true
		}
		return "mcp__" + server + "__" + name, nameChars(name, true)
	}
	switch name {
	case "*":
		return "*", true
	case "run_shell_command":
		return "run_command", true
	case "read_file", "write_file", "web_fetch":
		return name, true
	case "read_many_files":
		return "read_file", true
	case "replace":
		return "edit_file", true
	case "glob":
		return "find_files", true
	case "search_file_content", "grep_search":
		return "search_files", true
	case "list_directory":
		return "list_files", true
	case "google_web_search":
		return "web_search", true
	}
	if s, tool, ok := strings.Cut(name, "__"); ok && s != "" && s != "mcp" && nameChars(name, true) {
		return "mcp__" + s + "__" + tool, true
	}
	return "", false
}
