package app

import (
	"context"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/agents/offered"
	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/serve/chatapi"
	"github.com/toolcrib/toolcrib/model"
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

// chat is the way in for programs that speak OpenAI's chat completions.
func (a *App) chat() chatapi.Config {
	of := offered.Chat{Agents: a.Agents, Settings: a.settings.Load}
	outside := func(c toolcrib.Caller, tool string) { a.Notebook.Carry(c, "the client's "+tool, "the client's "+tool) }
	return chatapi.Config{Models: of.Models, Agent: of.Agent, Frontend: APIFrontend, Outside: outside}
}
