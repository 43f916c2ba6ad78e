package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/tomltext"
)

// ImportGemini reads a policy file of the Gemini CLI. There the highest priority
// wins, here the strictest decision: where an allow would have won over a
// stricter rule, that is told.
func ImportGemini(data []byte) (Imported, error) {
	im, err := newImporter(data)
	if err != nil {
		return Imported{}, err
	}
	statements, err := tomltext.Parse(data)
	if err != nil {
		return Imported{}, fmt.Errorf("reading the policy: %w", err)
	}
	tables := geminiTables(statements)
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
				im.leaveOut(fmt.Sprintf("line %d", k.Line), strings.TrimPrefix(t.name+"."+strings.Join(k.Key, "."), "."), "it is not part of a rule")
			}
			if t.name != "" && len(t.keys) == 0 {
				im.leaveOut(at, t.name, "it is not a rule")
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

// geminiTable is one [[name]] of the file, or what stands before the first.
type geminiTable struct {
	name string
	line int
	keys []tomltext.Statement
}

func geminiTables(statements []tomltext.Statement) []geminiTable {
	tables := []geminiTable{{line: 1}}
	for _, s := range statements {
		last := &tables[len(tables)-1]
		if len(s.Table) > 1 && s.Table[0] == "rule" && last.name == "rule" {
			// A table of a rule narrows it as a key would.
			s.Key = append(slices.Clone(s.Table[1:]), s.Key...)
		}
		if s.Header() {
			tables = append(tables, geminiTable{name: strings.Join(s.Table, "."), line: s.Line})
			continue
		}
		if s.Value == nil {
			s.Value = &tomltext.Value{Kind: tomltext.Table}
		}
		last.keys = append(last.keys, s)
	}
	return tables
}

func geminiOf(t geminiTable) gemini {
	g := gemini{}
	var parts []string
	for _, k := range t.keys {
		name, v := strings.Join(k.Key, "."), k.Value
		parts = append(parts, name+" = "+tomlString(v))
		texts := tomlTexts(v)
		one := func(to *string) {
			if len(texts) != 1 || v.Kind != tomltext.Text {
				g.bad = "its " + name + " is not a text"
				return
			}
			*to = texts[0]
		}
		switch name {
		case "toolName", "commandPrefix":
			// Without it, the rule would be about everything.
			if len(texts) == 0 {
				g.bad = "its " + name + " is neither a text nor a list of texts"
			}
			if name == "toolName" {
				g.tools = texts
			} else {
				g.prefixes = texts
			}
		case "mcpName":
			one(&g.server)
		case "decision":
			one(&g.decision)
		case "denyMessage":
			one(&g.message)
		case "subagent":
			one(&g.agent)
		case "priority":
			p, err := strconv.ParseFloat(strings.ReplaceAll(v.Text, "_", ""), 64)
			if err != nil || v.Kind != tomltext.Number {
				g.bad = "its priority is not a number"
			}
			g.priority = p
		case "allowRedirection":
			if v.Text != "false" {
				g.odd = append(g.odd, name)
			}
		default: // commandRegex, argsPattern, toolAnnotations, modes, interactive, …
			g.odd = append(g.odd, name)
		}
	}
	g.text = strings.Join(parts, ", ")
	return g
}

// tomlTexts gives a text, or the texts of a list; none if there is anything else.
func tomlTexts(v *tomltext.Value) []string {
	list := v.List
	if v.Kind == tomltext.Text {
		list = []*tomltext.Value{v}
	}
	var out []string
	for _, e := range list {
		if e.Kind != tomltext.Text {
			return nil
		}
		out = append(out, e.Text)
	}
	return out
}

func tomlString(v *tomltext.Value) string {
	var out []string
	switch v.Kind {
	case tomltext.Text:
		return strconv.Quote(v.Text)
	case tomltext.List:
		for _, e := range v.List {
			out = append(out, tomlString(e))
		}
		return "[" + strings.Join(out, ", ") + "]"
	case tomltext.Table:
		for _, f := range v.Fields {
			out = append(out, f.Name+" = "+tomlString(f.Value))
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	return v.Text
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
		im.leaveOut(at, g.text, g.bad)
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
			im.leaveOut(at, g.text, "there is no tool like "+shellguard.Quote(tool))
			continue
		}
		c.Tool = name
		if len(g.prefixes) == 0 {
			put = im.addRule(d, at, g.text, c) || put
			continue
		}
		for _, prefix := range g.prefixes {
			c.Tool = name + "(" + exactly(d, strings.TrimSpace(prefix)+" *") + ")"
			put = im.addRule(d, at, g.text, c) || put
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
	if tool, ok := map[string]string{
		"*": "*", "run_shell_command": "run_command", "read_file": "read_file", "write_file": "write_file", "web_fetch": "web_fetch", "read_many_files": "read_file", "replace": "edit_file",
		"glob": "find_files", "search_file_content": "search_files", "grep_search": "search_files", "list_directory": "list_files", "google_web_search": "web_search",
	}[name]; ok {
		return tool, true
	}
	if s, tool, ok := strings.Cut(name, "__"); ok && s != "" && s != "mcp" && nameChars(name, true) {
		return "mcp__" + s + "__" + tool, true
	}
	return "", false
}
