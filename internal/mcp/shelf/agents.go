package shelf

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/mcphub"
)

// AgentsBox is the name of the box that tells the instructions of agents.
const AgentsBox = "agents"

// Agents are the instructions of agents, by name.
type Agents map[string]string

// Box is the box that tells them.
func (a Agents) Box() toolcrib.Toolbox {
	return toolcrib.NewBox(AgentsBox, toolcrib.Tool{Spec: toolcrib.Spec{
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
		text, ok := a[in.Agent]
		if !ok || !mayKnow(env.Call.Caller, in.Agent) {
			return nil, fmt.Errorf("there is no agent %q with instructions", in.Agent)
		}
		value, err := json.Marshal(map[string]any{
			"description": "The instructions of the agent " + in.Agent + ".",
			"messages":    []any{map[string]any{"role": "user", "content": map[string]string{"type": "text", "text": text}}},
		})
		return &toolcrib.Result{Value: value}, err
	}})
}

// mayKnow reports whether a caller is told the instructions of an agent: one who
// runs under a preset knows their own only.
func mayKnow(caller toolcrib.Caller, agent string) bool {
	return caller.Token == "" && caller.Agent == "" || caller.Agent == agent
}
