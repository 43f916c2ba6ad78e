package clienthook

import "github.com/toolcrib/toolcrib"

// claude reads the tools of Claude Code, by their exact names.
func (r *reader) claude() ([]Deed, error) {
	switch r.tool {
	case "Bash":
		line, err := r.need("command")
		if err != nil {
			return nil, err
		}
		return r.command(line, "")
	case "Write":
		return r.onFile("write_file", changes, "file_path", "content", "content")
	case "Edit":
		return r.onFile("edit_file", changes, "file_path", "old_text", "old_string", "new_text", "new_string")
	case "MultiEdit":
		return r.onFile("edit_file", changes, "file_path")
	case "NotebookEdit":
		return r.onFile("edit_file", changes, "notebook_path", "new_text", "new_source")
	case "Read":
		return r.onFile("read_file", looks, "file_path")
	case "LS":
		return r.onFile("list_files", looks, "path")
	case "Glob":
		return r.globbed("path")
	case "Grep":
		return r.searched("path", "glob")
	case "WebFetch":
		url, err := r.need("url")
		return []Deed{fetch(url)}, err
	case "WebSearch":
		query, err := r.need("query")
		return webSearch(query), err
	case "Task", "Agent", "TodoWrite", "TodoRead", "TaskCreate", "TaskGet", "TaskUpdate", "TaskList", "TaskOutput", "TaskStop", "BashOutput", "KillShell", "KillBash", "Skill", "SlashCommand", "ToolSearch", "WaitForMcpServers", "StructuredOutput":
		// What an agent below, or a skill, makes of it comes here by itself.
		return r.harmless(toolcrib.Pure), nil
	case "AskUserQuestion", "EnterPlanMode", "ExitPlanMode":
		return r.harmless(toolcrib.AsksPerson), nil
	}
	return nil, nil
}

// onFile is a deed on the file that one argument names. The pairs are a name of
// ours and a name of theirs.
func (r *reader) onFile(tool string, effects toolcrib.Effects, name string, pairs ...string) ([]Deed, error) {
	path, err := r.need(name)
	if err != nil {
		return nil, err
	}
	var more []string
	for i := 0; i+1 < len(pairs); i += 2 {
		text, err := r.may(pairs[i+1])
		if err != nil {
			return nil, err
		}
		more = append(more, pairs[i], text)
	}
	return r.one(tool, effects, path, more...)
}

// globbed finds files by a pattern of paths.
func (r *reader) globbed(in string) ([]Deed, error) {
	pattern, err := r.need("pattern")
	if err != nil {
		return nil, err
	}
	dir, err := r.may(in)
	if err != nil {
		return nil, err
	}
	return r.found("find_files", "glob", dir, pattern)
}

// searched looks for a text in files.
func (r *reader) searched(in, which string) ([]Deed, error) {
	pattern, err := r.need("pattern")
	if err != nil {
		return nil, err
	}
	dir, err := r.may(in)
	if err != nil {
		return nil, err
	}
	names, err := r.may(which)
	if err != nil {
		return nil, err
	}
	return r.one(searchFiles, looks, dir, "pattern", pattern, "file_pattern", names)
}

// server reads what a client says besides about the MCP server of a tool.
func (r *reader) server(top fields) (server, tool string, ok bool, err error) {
	raw, has := top["mcp_context"]
	if r.client != Gemini || !has || string(raw) == "null" {
		return "", "", false, nil
	}
	about, err := object(raw)
	if err == nil {
		server, err = about.text("server_name")
	}
	if err == nil {
		tool, err = about.text("tool_name")
	}
	if err == nil && (!plainName(server) || !plainName(tool)) {
		return "", "", false, nil // a tool with undeclared effects
	}
	return server, tool, err == nil, err
}

// isOwn reports whether the server that a client calls toolcrib is this program: a
// repository may bring another of that name.
func (r *reader) isOwn(top fields) bool {
	about, err := object(top["mcp_context"])
	if err != nil {
		return false
	}
	program, err := about.text("command")
	return err == nil && r.near.Own != nil && r.near.Own(program)
}
