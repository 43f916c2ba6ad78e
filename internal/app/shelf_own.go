package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/server"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// What this program itself has to show MCP clients besides tools: skills are
// resources, and the instructions of agents are prompts. Both are read by
// tools, as those of servers are.
const (
	skillScheme = "skill://"
	skillReader = "skill/read_skill_file"
	agentsBox   = "agents"
	agentReader = agentsBox + "/agent_instructions"
)

// skills is the box of skills, nil if there is none.
func (a *App) skills() *skill.Box {
	for _, b := range a.shelving.Boxes {
		if s, ok := b.(*skill.Box); ok {
			return s
		}
	}
	return nil
}

// tool is the name under which a caller has a tool of ours; empty: it has not.
func (a *App) tool(caller toolcrib.Caller, boxAndNative string) string {
	for spec := range a.Crib.Tools(caller) {
		if spec.Box+"/"+spec.Native == boxAndNative {
			return spec.Name
		}
	}
	return ""
}

// skillItems shows the skills as resources.
func (a *App) skillItems(ctx context.Context, caller toolcrib.Caller) ([]server.Item, error) {
	box := a.skills()
	if box == nil || a.tool(caller, skillReader) == "" {
		return nil, nil
	}
	list, err := box.Skills(ctx)
	if err != nil {
		return nil, err
	}
	var out []server.Item
	for _, s := range list {
		uri := skillScheme + s.Name + "/SKILL.md"
		text, err := json.Marshal(map[string]string{"uri": uri, "name": s.Name, "description": s.Description, "mimeType": "text/markdown"})
		if err != nil {
			return nil, fmt.Errorf("showing the skill %s: %w", s.Name, err)
		}
		out = append(out, server.Item{Definition: text, Name: uri})
	}
	return out, nil
}

// skillCall is the call that reads a file of a skill.
func (a *App) skillCall(caller toolcrib.Caller, uri string) (tool string, input json.RawMessage, ok bool) {
	rest, is := strings.CutPrefix(uri, skillScheme)
	name, path, whole := strings.Cut(rest, "/")
	if tool = a.tool(caller, skillReader); !is || !whole || name == "" || path == "" || tool == "" {
		return "", nil, false
	}
	input, err := json.Marshal(map[string]string{"skill": name, "path": path})
	return tool, input, err == nil
}

// agentItems shows the instructions of agents as prompts.
func (a *App) agentItems(caller toolcrib.Caller) ([]server.Item, error) {
	if a.tool(caller, agentReader) == "" {
		return nil, nil
	}
	var out []server.Item
	for _, name := range slices.Sorted(maps.Keys(a.instructions)) {
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
func (a *App) agentCall(caller toolcrib.Caller, name string) (tool string, input json.RawMessage, ok bool) {
	if _, there := a.instructions[name]; !there || !mayKnow(caller, name) {
		return "", nil, false
	}
	if tool = a.tool(caller, agentReader); tool == "" {
		return "", nil, false
	}
	input, err := json.Marshal(map[string]string{"agent": name})
	return tool, input, err == nil
}

// openAgents is the box that tells the instructions of agents.
func (a *App) openAgents(agents map[string]settings.Agent) (toolcrib.Toolbox, error) {
	a.instructions = map[string]string{}
	for name, agent := range agents {
		if agent.Instructions != "" {
			a.instructions[name] = agent.Instructions
		}
	}
	return toolcrib.NewBox(agentsBox, toolcrib.Tool{Spec: toolcrib.Spec{
		Name: "agent_instructions", Title: "The instructions of an agent",
		Description: "Tell what the model of an agent of this configuration is told, as a prompt.",
		Input:       json.RawMessage(`{"type":"object","properties":{"agent":{"type":"string","description":"The agent."}},"required":["agent"],"additionalProperties":false}`),
		Effects:     toolcrib.Pure, Group: mcphub.ShelfGroup,
	}, Run: func(_ context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		var in struct {
			Agent string `json:"agent"`
		}
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		text, ok := a.instructions[in.Agent]
		if !ok || !mayKnow(env.Call.Caller, in.Agent) {
			return nil, fmt.Errorf("there is no agent %q with instructions", in.Agent)
		}
		value, err := json.Marshal(map[string]any{
			"description": "The instructions of the agent " + in.Agent + ".",
			"messages":    []any{map[string]any{"role": "user", "content": map[string]string{"type": "text", "text": text}}},
		})
		return &toolcrib.Result{Value: value}, err
	}}), nil
}

// mayKnow reports whether a caller is told the instructions of an agent: one who
// runs under a preset knows their own only.
func mayKnow(caller toolcrib.Caller, agent string) bool {
	return caller.Token == "" && caller.Agent == "" || caller.Agent == agent
}

// hasInstructions reports whether any agent has some.
func hasInstructions(agents map[string]settings.Agent) bool {
	for _, a := range agents {
		if a.Instructions != "" {
			return true
		}
	}
	return false
}
