// Package openai asks models over the chat completions API: OpenAI's own service, and
// the many that speak like it, such as Ollama, vLLM, llama.cpp, LM Studio and OpenRouter.
//
// Those differ in small things. What they send is read generously: usage, ids, indexes
// and the end mark may be missing, arguments may be an object. What they refuse of a
// request, of the parts that are not needed, is left out from then on. The invariant is
// that of package model: an answer without its end is an error.
package openai

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/wire"
)

// Model is one model of one service.
type Model struct {
	client *wire.Client
	own    bool // it is OpenAI's own service
	// refused has a bit for each part of a request that the service did not take.
	refused atomic.Uint32
}

// New makes a model. Without a base URL it is at OpenAI.
func New(e model.Endpoint) (*Model, error) {
	e.Traits.Format = "openai"
	c, err := wire.New(e, "https://api.openai.com/v1", func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) })
	if err != nil {
		return nil, err
	}
	return &Model{client: c, own: c.Host() == "api.openai.com"}, nil
}

// Traits says what it can do.
func (m *Model) Traits() model.Traits { return m.client.Traits }

// name is whose thoughts are sent back.
func (m *Model) name() string { return "openai:" + m.client.Host() + ":" + m.client.Model }

// Ask sends a conversation.
func (m *Model) Ask(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Answer, error) {
	var answer *model.Answer
	err := m.client.Run(ctx, emit, func(emit func(model.Delta)) error {
		for {
			without := m.refused.Load()
			got := &collector{emit: emit, by: m.name()}
			err := m.client.Post(ctx, "/chat/completions", m.request(r, without), got.read)
			if part := refusedPart(err); part != 0 && without&part == 0 {
				m.refused.Or(part)
				continue
			}
			if err != nil {
				return err
			}
			answer, err = got.answer()
			return err
		}
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}
