package bundle

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// claudeParts is what a plugin.json of Claude Code, Codex or Cursor says besides. Each may
// be a path, a list of paths or, for servers, the thing itself.
type claudeParts struct {
	manifest
	Skills  json.RawMessage `json:"skills"`
	Agents  json.RawMessage `json:"agents"`
	Servers json.RawMessage `json:"mcpServers"`
}

// readClaude reads a plugin of Claude Code, and those of Codex and Cursor, which took the
// form over with another folder for the manifest.
func readClaude(folder string) func(*reader) error {
	return func(r *reader) error {
		at := path.Join(folder, "plugin.json")
		var m claudeParts
		if err := r.json(at, &m); err != nil {
			return err
		}
		r.take(m.manifest)
		r.addSkillsBelow("skills")
		for _, dir := range r.paths(at, "skills", m.Skills) {
			if r.isFile(path.Join(dir, "SKILL.md")) {
				r.addSkill(dir)
			} else {
				r.addSkillsBelow(dir)
			}
		}
		r.claudeAgents(at, m.Agents)
		vars := variables{"CLAUDE_PLUGIN_ROOT": Root, "CLAUDE_PLUGIN_DATA": Data, "PLUGIN_ROOT": Root, "PLUGIN_DATA": Data, "CURSOR_PLUGIN_ROOT": Root, "CODEX_PLUGIN_ROOT": Root}
		r.serversIn(".mcp.json", vars)
		if folder == ".cursor-plugin" {
			r.serversIn("mcp.json", vars)
		}
		var inline map[string]json.RawMessage
		if json.Unmarshal(m.Servers, &inline) == nil && inline != nil {
			r.addServers(at, unwrapped(inline), vars)
		} else {
			for _, file := range r.paths(at, "mcpServers", m.Servers) {
				r.serversIn(file, vars)
			}
		}
		r.inert("commands", "commands")
		r.inert("hooks", "hooks")
		r.inert("lsp", ".lsp.json")
		r.inert("output styles", "output-styles")
		r.inert("rules", "rules")
		r.inert("programs", "bin")
		return nil
	}
}

// paths reads one path or a list of them. Each must lie in the package.
func (r *reader) paths(at, key string, raw json.RawMessage) (out []string) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var one string
	var list []string
	if json.Unmarshal(raw, &one) == nil {
		list = []string{one}
	} else if json.Unmarshal(raw, &list) != nil {
		r.note(at, "%s is neither a path nor a list of paths", key)
		return nil
	}
	for _, p := range list {
		clean, err := CheckPath(p)
		if err != nil {
			r.note(at, "%s: %v", key, err)
			continue
		}
		out = append(out, clean)
	}
	return out
}

// serversIn adds the servers of a file, if there is one.
func (r *reader) serversIn(file string, vars variables) {
	if !r.isFile(file) || r.servers[file] {
		return
	}
	if r.servers == nil {
		r.servers = map[string]bool{}
	}
	r.servers[file] = true
	var all map[string]json.RawMessage
	if err := r.json(file, &all); err != nil {
		r.note(file, "its servers are left out: %v", err)
		return
	}
	r.addServers(file, unwrapped(all), vars)
}

// unwrapped: the servers stand below mcpServers, or mcp_servers as in the settings of Codex, or are the whole file.
func unwrapped(all map[string]json.RawMessage) map[string]json.RawMessage {
	inner, ok := all["mcpServers"]
	if !ok {
		inner, ok = all["mcp_servers"]
	}
	if !ok {
		return all
	}
	var servers map[string]json.RawMessage
	if json.Unmarshal(inner, &servers) != nil {
		return nil
	}
	return servers
}

// claudeAgents adds the agents of a plugin: Markdown files with a front matter.
func (r *reader) claudeAgents(at string, raw json.RawMessage) {
	var found []string
	for _, p := range append([]string{"agents"}, r.paths(at, "agents", raw)...) {
		if r.isFile(p) {
			found = append(found, p)
			continue
		}
		if !r.isDir(p) {
			continue
		}
		entries, err := fs.ReadDir(r.files, p)
		if err != nil {
			r.note(p, "it cannot be read: %v", err)
			continue
		}
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".md") {
				found = append(found, path.Join(p, e.Name()))
			}
		}
	}
	for i, file := range found {
		if !slices.Contains(found[:i], file) {
			r.markdownAgent(file)
		}
	}
}

func (r *reader) markdownAgent(file string) {
	data, err := r.text(file, maxText)
	if err != nil {
		r.note(file, "the agent is left out: %v", err)
		return
	}
	body := strings.TrimPrefix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\uFEFF")
	var front struct {
		Name  string `yaml:"name"`
		Model string `yaml:"model"`
		Tools any    `yaml:"tools"`
	}
	if head, rest, ok := strings.Cut(strings.TrimPrefix(body, "---\n"), "\n---"); ok && strings.HasPrefix(body, "---\n") {
		if r.needs.YAML == nil || r.needs.YAML([]byte(head), &front) != nil {
			// As many are: a text with a colon that nobody quoted.
			r.note(file, "its front matter is no YAML, and is read line by line")
			front.Name, front.Model, front.Tools = lineOf(head, "name"), lineOf(head, "model"), lineOf(head, "tools")
		}
		body = strings.TrimLeft(rest, "-")
	}
	if front.Name == "" {
		front.Name = strings.TrimSuffix(path.Base(file), ".md")
	}
	r.Agents = append(r.Agents, Agent{Name: front.Name, File: file, Instructions: strings.TrimSpace(body), Model: shown(front.Model, 100), Tools: listOf(front.Tools)})
}

// lineOf is what stands behind a key at the beginning of a line.
func lineOf(text, key string) string {
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(line, key+":"); is {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// listOf reads a list, or a text with commas.
func listOf(v any) (out []string) {
	switch v := v.(type) {
	case string:
		for part := range strings.SplitSeq(v, ",") {
			if part = shown(part, 200); part != "" {
				out = append(out, part)
			}
		}
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, shown(s, 200))
			}
		}
	}
	return out[:min(len(out), maxParts)]
}
