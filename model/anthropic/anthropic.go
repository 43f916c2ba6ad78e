// Package anthropic asks models over Anthropic's messages API.
//
// What a model thought is signed by the service and goes back to it as it was. The
// invariant is that of package model: an answer without its end is an error.
package anthropic

import (
	"context"
	"net/http"
	"strings"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/wire"
)

// Model is one model of the service.
type Model struct {
	client *wire.Client
	path   string
}

// New makes a model. Without a base URL it is at Anthropic; /v1 at its end may be left
// out.
func New(e model.Endpoint) (*Model, error) {
	e.Traits.Format = "anthropic"
	c, err := wire.New(e, "https://api.anthropic.com", func(h http.Header, key string) { h.Set("X-Api-Key", key) })
	if err != nil {
		return nil, err
	}
	c.Header = c.Header.Clone()
	if c.Header == nil {
		c.Header = http.Header{}
	}
	if c.Header.Get("Anthropic-Version") == "" {
		c.Header.Set("Anthropic-Version", "2023-06-01")
	}
	m := &Model{client: c, path: "/v1/messages"}
	if strings.HasSuffix(c.BaseURL, "/v1") {
		m.path = "/messages"
	}
	return m, nil
}

// Traits says what it can do.
func (m *Model) Traits() model.Traits { return m.client.Traits }

// name is whose thoughts are sent back.
func (m *Model) name() string { return "anthropic:" + m.client.Model }

// Ask sends a conversation.
func (m *Model) Ask(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Answer, error) {
	var answer *model.Answer
	err := m.client.Run(ctx, emit, func(emit func(model.Delta)) error {
		got := &collector{emit: emit, by: m.name()}
		if err := m.client.Post(ctx, m.path, m.request(r), got.read); err != nil {
			return err
		}
		answer = got.answer()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}
