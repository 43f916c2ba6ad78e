package shelf

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
)

// What this program itself has to show MCP clients besides tools: skills are
// resources, and the instructions of agents are prompts. Both are read by
// tools, as those of servers are.
const (
	skillScheme = "skill://"
	skillReader = "skill/read_skill_file"
	agentReader = AgentsBox + "/agent_instructions"
)

// tool is the name under which a caller has a tool of ours; empty: it has not.
func (s Shelf) tool(caller toolcrib.Caller, boxAndNative string) string {
	for spec := range s.Crib.Tools(caller) {
		if spec.Box+"/"+spec.Native == boxAndNative {
			return spec.Name
		}
	}
	return ""
}

// skillItems shows the skills as resources.
func (s Shelf) skillItems(ctx context.Context, caller toolcrib.Caller) ([]server.Item, error) {
	if s.Skills == nil || s.tool(caller, skillReader) == "" {
		return nil, nil
	}
	list, err := s.Skills.Skills(ctx)
	if err != nil {
		return nil, err
	}
	var out []server.Item
	for _, one := range list {
		// A name may have any sign in it: one with a slash would be a file of another skill.
		uri := skillScheme + url.PathEscape(one.Name) + "/SKILL.md"
		text, err := json.Marshal(map[string]string{"uri": uri, "name": one.Name, "description": one.Description, "mimeType": "text/markdown"})
		if err != nil {
			return nil, fmt.Errorf("showing the skill %s: %w", one.Name, err)
		}
		out = append(out, server.Item{Definition: text, Name: uri})
	}
	return out, nil
}

// skillCall is the call that reads a file of a skill.
func (s Shelf) skillCall(caller toolcrib.Caller, uri string) (tool string, input json.RawMessage, ok bool) {
	rest, is := strings.CutPrefix(uri, skillScheme)
	name, path, whole := strings.Cut(rest, "/")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	if tool = s.tool(caller, skillReader); !is || !whole || name == "" || path == "" || tool == "" {
		return "", nil, false
	}
	input, err := json.Marshal(map[string]string{"skill": name, "path": path})
	return tool, input, err == nil
}

// agentItems shows the instructions of agents as prompts.
func (s Shelf) agentItems(caller toolcrib.Caller) ([]server.Item, error) {
	if s.tool(caller, agentReader) == "" {
		return nil, nil
	}
	var out []server.Item
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		if !mayKnow(caller, name) {
			continue
		}
		text, err := json.Marshal(map[string]string{"name": name, "title": "The agent " + name, "description": "The instructions of the agent " + name + "."})
		if err != nil {
			return nil, fmt.Errorf("showing the agent %s: %w", name, err)
		}
		out = append(out, server.Item{Definition: text, Name: name})
	}
	return out, nil
}

// agentCall is the call that gives the instructions of an agent.
func (s Shelf) agentCall(caller toolcrib.Caller, name string) (tool string, input json.RawMessage, ok bool) {
	if _, there := s.Agents[name]; !there || !mayKnow(caller, name) {
		return "", nil, false
	}
	if tool = s.tool(caller, agentReader); tool == "" {
		return "", nil, false
	}
	input, err := json.Marshal(map[string]string{"agent": name})
	return tool, input, err == nil
}
