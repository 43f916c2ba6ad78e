// Package offered says which models and agents callers of the chat may name, and lends
// them. It is a joint between the agents of the settings and the frontend that speaks
// OpenAI's chat completions. The wiring in internal/app imports it.
package offered

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/agents"
	"github.com/toolcrib/toolcrib/internal/serve/chatapi"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// What a client of the chat may name as its model: a model of the settings by its name,
// a preset of an agent behind agentPrefix, or ownModel, which is the caller's own preset
// with the model of that.
const (
	agentPrefix = "agent/"
	ownModel    = "toolcrib"
)

// Chat is what the chat offers.
type Chat struct {
	Agents   *agents.Agents
	Settings func() *settings.Config // those that hold now; nil: none do
}

// modelNames are those of the settings.
func (a Chat) modelNames() []string {
	if set := a.Settings(); set != nil {
		return slices.Sorted(maps.Keys(set.Models))
	}
	return nil
}

// Models lists what a caller may name.
func (a Chat) Models(who httpapi.Holder) []chatapi.Named {
	models := a.modelNames()
	if len(models) == 0 {
		return nil
	}
	out := []chatapi.Named{{Name: ownModel}}
	for _, name := range a.Agents.Names() {
		if who.MayChoose(name) {
			out = append(out, chatapi.Named{Name: agentPrefix + name})
		}
	}
	if a.Settings().Agents[who.Caller.Agent].Model == "" {
		for _, name := range models {
			out = append(out, chatapi.Named{Name: name})
		}
	}
	return out
}

// Agent opens what a caller named. A preset that is not theirs is not there for them:
// what it allows runs unasked. Whose own preset has a model uses that one and no other.
func (a Chat) Agent(ctx context.Context, who httpapi.Holder, name string) (*agent.Agent, func(), error) {
	o := agents.Options{Caller: who.Caller, Forget: true}
	none := &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: fmt.Sprintf("there is no model or agent %q here for you; GET %s lists those there are", name, chatapi.ModelsPath)}
	if len(a.modelNames()) == 0 {
		return nil, nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "no model is set up on this server; 'toolcrib models set' sets one up"}
	}
	found := name == ""
	for _, m := range a.Models(who) {
		found = found || m.Name == name
	}
	if !found {
		return nil, nil, none
	}
	if preset, ok := strings.CutPrefix(name, agentPrefix); ok {
		o.Caller.Agent = preset
		o.Caller.Session += "." + preset // what was allowed in a conversation was allowed to that one
	} else if name != ownModel {
		o.Model = name
	}
	return a.Agents.Lend(ctx, o)
}
