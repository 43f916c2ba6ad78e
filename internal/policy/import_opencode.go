package policy

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// ImportOpencode reads the permissions of an opencode.json. There the last match
// wins, here the strictest: where an earlier entry is stricter than a later one,
// that is told.
func ImportOpencode(data []byte) (Imported, error) {
	im, err := newImporter(data)
	if err != nil {
		return Imported{}, err
	}
	top, err := members(withoutComments(data))
	if err != nil {
		return Imported{}, fmt.Errorf("reading opencode.json: %w", err)
	}
	for _, m := range top {
		if m.key != "permission" {
			why := "it is not about permissions; those of an agent are a layer of their own"
			if m.key == "agent" || m.key == "mode" {
				im.leaveOut(m.key, string(m.value), why)
			} else {
				im.setAside(m.key, string(m.value), why)
			}
			continue
		}
		var word string
		if json.Unmarshal(m.value, &word) == nil {
			im.opencodeEntries("permission", "*", []member{{"*", m.value}})
			continue
		}
		inner, err := members(m.value)
		if err != nil {
			return Imported{}, fmt.Errorf("reading permission: %w", err)
		}
		for _, p := range inner {
			entries, err := members(p.value)
			if err != nil { // one word for every use
				entries = []member{{"*", p.value}}
			}
			im.opencodeEntries("permission."+p.key, p.key, entries)
		}
	}
	return im.Imported, nil
}

type opencodeEntry struct {
	at, pattern, text string
	decision          toolcrib.Decision
}

func (im *importer) opencodeEntries(at, name string, list []member) {
	tools, known := opencodeTools(name)
	var entries []opencodeEntry
	for _, m := range list {
		var word string
		e := opencodeEntry{at: at, pattern: m.key}
		if len(list) > 1 || m.key != "*" {
			e.at += "." + m.key
		}
		if err := json.Unmarshal(m.value, &word); err != nil || e.decision.UnmarshalText([]byte(word)) != nil {
			im.leaveOut(e.at, string(m.value), "it is not allow, ask or deny")
			continue
		}
		e.text = m.key + ": " + word
		if !known {
			im.leaveOut(e.at, e.text, "there is no tool like "+shellguard.Quote(name))
			continue
		}
		entries = append(entries, e)
	}
	var before []opencodeEntry
	for i, e := range entries {
		if e.fallback(tools[0], i == len(entries)-1) {
			im.leaveOut(e.at, e.text, "the mode decides what no rule means, and default asks before anything is changed or run; as a rule it would overrule every allow")
			continue
		}
		im.opencodeEntry(tools, e, before)
		before = append(before, e)
	}
}

// fallback: a question that others after it make exceptions from. The mode
// default asks it as well.
func (e *opencodeEntry) fallback(tool string, last bool) bool {
	if e.pattern != "*" && e.pattern != "**" || e.decision != toolcrib.Ask {
		return false
	}
	switch tool {
	case "*":
		return true
	case "run_command", "edit_file", "web_fetch":
		return !last
	}
	return false
}

func (im *importer) opencodeEntry(tools []string, e opencodeEntry, before []opencodeEntry) {
	all := e.pattern == "*" || e.pattern == "**"
	for _, b := range before {
		if b.decision < e.decision {
			im.partly(e.at, e.text, "here the strictest rule wins: where "+shellguard.Quote(b.text)+" means the same, that holds")
			break
		}
	}
	for _, tool := range tools {
		if tool == "delete_file" && e.decision == toolcrib.Allow {
			continue // that an edit is allowed says nothing about removing
		}
		rule := tool
		if !all {
			spec, why := opencodeSpec(tool, e.pattern, e.decision)
			if why != "" {
				im.leaveOut(e.at, e.text, why)
				continue
			}
			rule += "(" + spec + ")"
		}
		im.addRule(e.decision, e.at, e.text, Condition{Tool: rule})
	}
}

// opencodeSpec turns a pattern round. There a * is any text, slashes included.
func opencodeSpec(tool, pattern string, d toolcrib.Decision) (spec, why string) {
	if !isPathTool(tool) {
		if tool == "web_fetch" {
			return "", "patterns of addresses are not known here: write a rule with domain:"
		}
		if tool == "run_command" {
			return exactly(d, pattern), ""
		}
		return pattern, ""
	}
	spec = pattern
	if cut, ok := strings.CutSuffix(spec, "/*"); ok {
		spec = cut + "/**"
	}
	rest := strings.TrimSuffix(spec, "/**")
	if strings.Contains(rest, "*") && strings.Contains(rest, "/") && d != toolcrib.Allow {
		return "", "a * in the middle of a path means more there than it does here"
	}
	return spec, ""
}

func opencodeTools(name string) ([]string, bool) {
	tools, ok := map[string][]string{
		"*": {"*"}, "bash": {"run_command"}, "edit": {"edit_file", "write_file", "delete_file"}, "read": {"read_file"}, "glob": {"find_files"},
		"grep": {"search_files"}, "list": {"list_files"}, "webfetch": {"web_fetch"}, "websearch": {"web_search"},
	}[name]
	return tools, ok
}
