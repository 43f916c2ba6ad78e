package account

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// telling names, by native tool, the arguments that say most of a call, in the order in
// which they are shown. A tool that is not here is told by its first short text.
func telling(native string) []string {
	switch native {
	case "run_command", "start_command":
		return []string{"command"}
	case "read_file", "write_file", "edit_file", "delete_file", "list_files", "restore_file":
		return []string{"path"}
	case "find_files":
		return []string{"glob", "path"}
	case "search_files":
		return []string{"pattern", "path"}
	case "command_input":
		return []string{"job", "text"}
	case "command_output", "stop_command":
		return []string{"job"}
	case "web_fetch":
		return []string{"url"}
	case "web_search", "memory_search":
		return []string{"query"}
	case "ask_user":
		return []string{"question"}
	case "evaluate_expression":
		return []string{"expression"}
	case "solve_equation":
		return []string{"equation"}
	case "unit_convert":
		return []string{"value", "from_unit", "to_unit"}
	case "statistics_summary":
		return []string{"numbers"}
	case "get_current_datetime":
		return []string{"timezone"}
	case "todo_write":
		return []string{"items"}
	case "scratchpad_read", "scratchpad_write":
		return []string{"key"}
	case "memory_append":
		return []string{"text", "content"}
	case "read_artifact":
		return []string{"id"}
	case "mcp_call":
		return []string{"tool_name", "arguments"}
	case "mcp_connect":
		return []string{"name"}
	case "mcp_import":
		return []string{"source_path"}
	case "use_skill", "run_skill", "skill_prompt", "read_skill_file":
		return []string{"name", "skill", "path", "command"}
	case "lsp_goto_definition", "lsp_find_references", "lsp_diagnostics", "lsp_hover", "lsp_rename", "lsp_symbols":
		return []string{"path", "file", "symbol", "query", "line"}
	case "ask_model":
		return []string{"model"}
	}
	return nil
}

// likely are arguments that say much of a tool that nobody here knows.
func likely() []string {
	return []string{"command", "cmd", "path", "file_path", "file", "url", "uri", "query", "q", "pattern", "expression", "name", "id", "title", "question", "text"}
}

// mostWhat bounds what is looked at of one argument.
const mostWhat = 400

// What says in one line what a call was about: its command, its path, its query. It is
// what a person put in its place, if one did.
func What(r toolcrib.Record) string {
	input := r.Input
	if len(r.Edited) > 0 {
		input = r.Edited
	}
	fields := fieldsOf(input)
	if fields == nil {
		return line(rawText(input))
	}
	native := r.Native
	if native == "" {
		native = r.Tool
	}
	names := telling(native)
	var parts []string
	for _, name := range names {
		if at := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); at >= 0 {
			if said := line(rawText(fields[at].value)); said != "" {
				parts = append(parts, said)
			}
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, " ")
	}
	for _, name := range likely() {
		if at := slices.IndexFunc(fields, func(f field) bool { return strings.EqualFold(f.name, name) }); at >= 0 {
			if said := line(rawText(fields[at].value)); said != "" {
				return said
			}
		}
	}
	return firstShort(fields)
}

// firstShort is the first text that is not long, else all arguments.
func firstShort(fields []field) string {
	for _, f := range fields {
		var s string
		if json.Unmarshal(f.value, &s) == nil && s != "" && len(s) <= 120 {
			return line(s)
		}
	}
	var all []string
	for _, f := range fields {
		all = append(all, f.name+"="+rawText(f.value))
		if len(all) == 4 {
			break
		}
	}
	return line(strings.Join(all, " "))
}

// field is one argument of a call.
type field struct {
	name  string
	value json.RawMessage
}

// fieldsOf gives the arguments in the order in which they were given; nil: it is no object.
func fieldsOf(input json.RawMessage) []field {
	dec := json.NewDecoder(bytes.NewReader(input))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	fields := []field{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			break
		}
		fields = append(fields, field{name, value})
	}
	return fields
}

// rawText is a value as a person writes it.
func rawText(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	if string(value) == "null" {
		return ""
	}
	return string(value)
}

// line makes a text one line in which nothing hides.
func line(s string) string {
	if len(s) > mostWhat {
		s = text.Head(s, mostWhat) + "…"
	}
	return text.ShowLine(strings.TrimSpace(s))
}
