package models

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/definition"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/model"
)

// Trial is what a model turned out to be able to do.
type Trial struct {
	Model   string `json:"model"`
	Answers string `json:"answers,omitempty"` // which one answered, as the service says
	Text    bool   `json:"text"`
	Stream  bool   `json:"streaming"`
	Tools   bool   `json:"tools"`
	Results bool   `json:"tool_results"` // it goes on with what a tool answered
	Images  bool   `json:"images"`
	Usage   bool   `json:"usage"`
	// First and Whole are how long the first piece and the whole of the first answer took.
	First time.Duration `json:"first_ns"`
	Whole time.Duration `json:"whole_ns"`
	Use   model.Usage   `json:"used"` // by all questions together
	Cost  float64       `json:"cost"`
	Notes []string      `json:"notes,omitempty"`
}

// Try asks a model a few short questions. An error is one of the first question: then
// nothing else was asked.
func Try(ctx context.Context, g *Governed) (*Trial, error) {
	t := &Trial{Model: g.Name(), Usage: true}
	g.OnUse = func(u safety.ModelUse) {
		t.Use = t.Use.Add(model.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
		t.Cost += u.Cost
		t.Usage = t.Usage && !u.Estimated
	}
	start, pieces := time.Now(), 0
	answer, err := g.Ask(ctx, model.Request{System: "You answer in as few words as possible.", Messages: []model.Message{model.Text(model.User, "Count from one to ten, in words.")}, MaxTokens: 2000}, func(model.Delta) {
		if pieces++; pieces == 1 {
			t.First = time.Since(start)
		}
	})
	if err != nil {
		return nil, err
	}
	t.Whole, t.Answers = time.Since(start), answer.Model
	t.Text, t.Stream = strings.TrimSpace(answer.Message.Said()) != "", pieces > 1
	if !t.Text {
		t.note("it answered without text (" + answer.Stop + ")")
	}
	if err := t.tools(ctx, g); err != nil {
		return t, err
	}
	if err := t.images(ctx, g); err != nil {
		return t, err
	}
	if !t.Usage {
		t.note("the service does not say how many tokens it used: budgets go by estimates")
	}
	return t, nil
}

func (t *Trial) note(s string) { t.Notes = append(t.Notes, s) }

// failed notes what a service said; only the end of the whole trial is an error.
func (t *Trial) failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if toolcrib.CodeOf(err) == toolcrib.CodeDenied {
		return err
	}
	t.note(what + ": " + err.Error())
	return nil
}

// tools has it add two numbers with a tool, and go on with what that answered.
func (t *Trial) tools(ctx context.Context, g *Governed) error {
	set, err := definition.Of(definition.Format(g.Traits().Format), []toolcrib.Entry{{Box: "trial", Native: "add_numbers", Spec: toolcrib.Spec{
		Name: "add_numbers", Description: "Adds two numbers and gives the sum.",
		Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`),
	}}})
	if err != nil {
		return err
	}
	r := model.Request{Messages: []model.Message{model.Text(model.User, "Use the tool add_numbers to add 1917 and 2308, then tell me the sum.")}, Tools: set.Tools, MaxTokens: 2000}
	answer, err := g.Ask(ctx, r, nil)
	if err != nil {
		return t.failed(ctx, "with a tool", err)
	}
	for _, c := range answer.Message.Calls {
		call, err := set.CallNamed(c.Name, c.Arguments)
		var in struct{ A, B float64 }
		if err == nil && json.Unmarshal(call.Input, &in) == nil && in.A+in.B == 4225 {
			t.Tools = true
		}
	}
	if !t.Tools {
		t.note("it did not call the tool that it was told to use; tools: react in its settings has it write calls as text")
		return nil
	}
	r.Messages = append(r.Messages, answer.Message)
	for _, c := range answer.Message.Calls {
		r.Messages = append(r.Messages, model.Message{Role: model.Tool, CallID: c.ID, Name: c.Name, Parts: []model.Part{{Text: `{"sum":4225}`}}})
	}
	if answer, err = g.Ask(ctx, r, nil); err != nil {
		return t.failed(ctx, "with the result of a tool", err)
	}
	t.Results = strings.Contains(strings.NewReplacer(",", "", ".", "", "\u202f", "", " ", "", "'", "").Replace(answer.Message.Said()), "4225")
	if !t.Results {
		t.note("it did not say what the tool answered")
	}
	return nil
}

// images shows it a red square.
func (t *Trial) images(ctx context.Context, g *Governed) error {
	square := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		square.Set(i%64, i/64, color.RGBA{R: 220, A: 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, square); err != nil {
		return err
	}
	answer, err := g.Ask(ctx, model.Request{Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "Which colour is this square? Answer with one word."}, {Data: b.Bytes(), MIME: "image/png"}}}}, MaxTokens: 2000}, nil)
	if err != nil {
		var e *model.Error
		if errors.As(err, &e) && e.Kind == model.BadRequest && !g.Traits().Images {
			return nil // nobody said that it takes any
		}
		return t.failed(ctx, "with an image", err)
	}
	t.Images = strings.Contains(strings.ToLower(answer.Message.Said()), "red")
	if t.Images && !g.Traits().Images {
		t.note("it takes images; images: yes in its settings says so")
	}
	if !t.Images && g.Traits().Images {
		t.note("it did not see what is in an image; images: no in its settings says so")
	}
	return nil
}
