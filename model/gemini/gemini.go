// Package gemini asks models over Google's generateContent API.
//
// Its service puts signatures on what a model wrote, and wants them back at the same
// places. The invariant is that of package model: an answer without its end is an error.
package gemini

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/wire"
)

// Model is one model of the service.
type Model struct {
	client *wire.Client
	path   string
}

// New makes a model. Without a base URL it is at Google.
func New(e model.Endpoint) (*Model, error) {
	e.Traits.Format = "gemini"
	c, err := wire.New(e, "https://generativelanguage.googleapis.com/v1beta", func(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) })
	if err != nil {
		return nil, err
	}
	m := &Model{client: c, path: "/models/" + url.PathEscape(strings.TrimPrefix(c.Model, "models/")) + ":streamGenerateContent?alt=sse"}
	if c.NoStream {
		m.path = strings.TrimSuffix(m.path, ":streamGenerateContent?alt=sse") + ":generateContent"
	}
	return m, nil
}

// Traits says what it can do.
func (m *Model) Traits() model.Traits { return m.client.Traits }

// name is whose signatures are sent back.
func (m *Model) name() string { return "gemini:" + m.client.Model }

// Ask sends a conversation.
func (m *Model) Ask(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Answer, error) {
	var answer *model.Answer
	err := m.client.Run(ctx, emit, func(emit func(model.Delta)) error {
		got := &collector{emit: emit, by: m.name()}
		err := m.client.Post(ctx, m.path, m.request(r), got.read)
		if err != nil {
			return err
		}
		answer, err = got.answer()
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}
