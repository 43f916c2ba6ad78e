// Package suite is what every adapter to an API of models must do, tried over a real
// socket against the scripted model. The tests of the adapters run it, and nobody else
// imports it.
package suite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
)

// Adapter is the adapter under test.
type Adapter struct {
	API string
	New func(model.Endpoint) (model.Model, error)
	// Thoughts: the API has them, with signatures that go back.
	Thoughts bool
}

// Run tries an adapter.
func (a Adapter) Run(t *testing.T) {
	t.Run("answers", a.answers)
	t.Run("stops", a.stops)
	t.Run("cut", a.cut)
	t.Run("failures", a.failures)
	t.Run("attempts", a.attempts)
	t.Run("waits", a.waits)
	t.Run("late failures", a.late)
	t.Run("cancelled", a.cancelled)
	t.Run("idle", a.idle)
	t.Run("unreached", a.unreached)
	t.Run("bounds", a.bounds)
	t.Run("nonsense", a.nonsense)
	t.Run("key", a.key)
	t.Run("conversation", a.conversation)
	t.Run("thoughts", a.thoughts)
	t.Run("addresses", a.addresses)
}

// open makes a model at a scripted server. It waits for nothing between attempts.
func (a Adapter) open(t *testing.T, s *modeltest.Server, change ...func(*model.Endpoint)) model.Model {
	t.Helper()
	e := model.Endpoint{BaseURL: s.Base(a.API), Model: "scripted", Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	for _, f := range change {
		f(&e)
	}
	m, err := a.New(e)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// hello is the shortest conversation.
func hello() model.Request {
	return model.Request{Messages: []model.Message{model.Text(model.User, "hello")}}
}

// kind is what an error is, or its text.
func kind(err error) string {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Kind
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// always answers everything in one way.
func always(t *testing.T, turn modeltest.Turn) *modeltest.Server {
	return modeltest.NewFunc(t, func(modeltest.Request) modeltest.Turn { return turn })
}

// heard collects what is emitted.
type heard struct {
	text, thought string
	calls         []string
}

func (h *heard) emit(d model.Delta) {
	h.text += d.Text
	h.thought += d.Thought
	if d.Call != "" {
		h.calls = append(h.calls, d.Call)
	}
}

func (h *heard) String() string {
	return h.thought + "|" + h.text + "|" + strings.Join(h.calls, ",")
}
