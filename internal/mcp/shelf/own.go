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
// resources and prompts, and the instructions of agents are prompts. All are read by
// tools, as those of servers are.
const (
	skillScheme = "skill://"
	skillReader = "skill/read_skill_file"
	skillPrompt = "skill/skill_prompt"
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

// promptName is what the prompt of a skill is called: an agent of its name goes before it.
func (s Shelf) promptName(skill string) string {
	if _, taken := s.Agents[skill]; taken {
		return promptKind().long("skill", skill)
	}
	return skill
}

// skillPrompts shows the skills as prompts. Names are how they are called.
func (s Shelf) skillPrompts(ctx context.Context, caller toolcrib.Caller) (items []server.Item, names map[string]string, err error) {
	if s.Skills == nil || s.tool(caller, skillPrompt) == "" {
		return nil, nil, nil
	}
	list, err := s.Skills.Skills(ctx)
	if err != nil {
		return nil, nil, err
	}
	names = map[string]string{}
	for _, one := range list {
		name := s.promptName(one.Name)
		if names[name] != "" {
			continue // a skill that is called like the long name of another
		}
		text, err := json.Marshal(map[string]any{
			"name": name, "title": "The skill " + one.Name, "description": one.Description,
			"arguments": []any{map[string]any{"name": "task", "description": "What to do by the skill.", "required": false}},
		})
		if err != nil {
			return nil, nil, fmt.Errorf("showing the skill %s: %w", one.Name, err)
		}
		names[name] = one.Name
		items = append(items, server.Item{Definition: text, Name: name})
	}
	return items, names, nil
}

// skillPromptCall is the call that gives a skill as a prompt.
func (s Shelf) skillPromptCall(ctx context.Context, caller toolcrib.Caller, name string, arguments json.RawMessage) (tool string, input json.RawMessage, ok bool, err error) {
	_, names, err := s.skillPrompts(ctx, caller)
	if err != nil || names[name] == "" {
		return "", nil, false, err
	}
	given := map[string]string{}
	if arguments != nil {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return "", nil, false, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf("the arguments of the prompt %s: %v", name, err)}
		}
	}
	fields := map[string]string{"skill": names[name]}
	for key, value := range given {
		if key != "task" {
			return "", nil, false, &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf("the prompt %s has no argument %q: it takes task, or nothing", name, key)}
		}
		fields[key] = value
	}
	input, err = json.Marshal(fields)
	return s.tool(caller, skillPrompt), input, err == nil, err
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
