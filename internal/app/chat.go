package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/agents"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/serve/chatapi"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/model"
)

// What a client of the chat may name as its model: a model of the settings by its name,
// a preset of an agent behind agentPrefix, or ownModel, which is the caller's own preset
// with the model of that.
const (
	agentPrefix = "agent/"
	ownModel    = "toolcrib"
)

// model gives a model of the settings, whose requests are made as a caller for a call of
// theirs. Empty: the one that is used where none is named.
func (a *App) model(_ context.Context, name string, caller toolcrib.Caller, parent string) (model.Model, error) {
	if a.Models == nil {
		return nil, models.ErrNone
	}
	m, err := a.Models.Model(name, caller)
	if err != nil {
		return nil, err
	}
	m.Parent = parent
	return m, nil
}

// modelNames are those of the settings.
func (a *App) modelNames() []string {
	if set := a.settings.Load(); set != nil {
		return slices.Sorted(maps.Keys(set.Models))
	}
	return nil
}

// chat is the way in for programs that speak OpenAI's chat completions.
func (a *App) chat() chatapi.Config {
	return chatapi.Config{Models: a.chatModels, Agent: a.chatAgent, Frontend: APIFrontend}
}

// chatModels lists what a caller may name.
func (a *App) chatModels(who httpapi.Holder) []chatapi.Named {
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
	if a.settings.Load().Agents[who.Caller.Agent].Model == "" {
		for _, name := range models {
			out = append(out, chatapi.Named{Name: name})
		}
	}
	return out
}

// chatAgent opens what a caller named. A preset that is not theirs is not there for them:
// what it allows runs unasked. Whose own preset has a model uses that one and no other.
func (a *App) chatAgent(ctx context.Context, who httpapi.Holder, name string) (*agent.Agent, func(), error) {
	o := agents.Options{Caller: who.Caller, Forget: true}
	none := &toolcrib.Error{Code: toolcrib.CodeNotFound, Message: fmt.Sprintf("there is no model or agent %q here for you; GET %s lists those there are", name, chatapi.ModelsPath)}
	if len(a.modelNames()) == 0 {
		return nil, nil, &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "no model is set up on this server; 'toolcrib models set' sets one up"}
	}
	found := name == ""
	for _, m := range a.chatModels(who) {
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
