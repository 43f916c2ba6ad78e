package cribtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
)

// DemoTools are small tools that behave in every way a tool can: they answer,
// keep something, fail, break down, take too long, call others and ask. Each
// call of DemoTools makes new ones that share nothing with the former.
func DemoTools() []toolcrib.Tool {
	return []toolcrib.Tool{
		echoTool(), measureTool(), noteTool(), failTool(), explodeTool(), vanishTool(), liarTool(),
		sleepTool(), stubbornTool(), relayTool(), consultTool(),
	}
}

func demoSpec(name, description string, effects toolcrib.Effects) toolcrib.Spec {
	return toolcrib.Spec{Name: name, Description: description, Effects: effects, Group: "demo"}
}

type textIn struct {
	Text string `json:"text" doc:"Any text."`
}

type textOut struct {
	Text string `json:"text"`
}

func echoTool() toolcrib.Tool {
	return toolcrib.Define(demoSpec("echo", "Answers what it was told.", toolcrib.Pure),
		func(_ context.Context, _ *toolcrib.Env, in textIn) (textOut, error) { return textOut(in), nil })
}

// Measure is the input of the demo tool measure: one parameter of each kind.
type Measure struct {
	Name   string   `json:"name" doc:"What is measured." minlen:"1" maxlen:"80"`
	Code   string   `json:"code" doc:"Its number on the shelf." pattern:"^[A-Z]{2}-[0-9]{3}$"`
	Unit   string   `json:"unit" doc:"The unit of the value." enum:"mm,cm,m,in"`
	Value  float64  `json:"value" doc:"The value read." min:"0"`
	Count  int      `json:"count" doc:"How many of them." min:"1" max:"1000"`
	Rough  bool     `json:"rough,omitempty" doc:"Whether it was read by eye."`
	Marks  []string `json:"marks,omitempty" doc:"Words to find it by." maxitems:"8"`
	Place  Place    `json:"place" doc:"Where it lies."`
	Digits int      `json:"digits,omitempty" doc:"Digits after the point." default:"2" min:"0" max:"6"`
}

// Place is a nested parameter of [Measure].
type Place struct {
	Row   int    `json:"row" doc:"Counted from the door." min:"0"`
	Shelf string `json:"shelf" doc:"The letter on the shelf."`
}

// Measured is the output of the demo tool measure.
type Measured struct {
	Total float64 `json:"total"`
	Unit  string  `json:"unit"`
	Label string  `json:"label"`
}

func measureTool() toolcrib.Tool {
	return toolcrib.Define(demoSpec("measure", "Adds up equal measures.", toolcrib.Pure),
		func(_ context.Context, _ *toolcrib.Env, in Measure) (Measured, error) {
			return Measured{Total: in.Value * float64(in.Count), Unit: in.Unit, Label: in.Code + " " + in.Name}, nil
		})
}

type noteOut struct {
	Kept int `json:"kept"`
}

// noteTool has an effect that can be counted: how many notes were kept.
func noteTool() toolcrib.Tool {
	var mu sync.Mutex
	kept := 0
	return toolcrib.Define(demoSpec("note", "Keeps a note and tells how many there are.", toolcrib.Writes),
		func(context.Context, *toolcrib.Env, textIn) (noteOut, error) {
			mu.Lock()
			defer mu.Unlock()
			kept++
			return noteOut{kept}, nil
		})
}

func failTool() toolcrib.Tool {
	return toolcrib.Define(demoSpec("fail", "Fails for the reason it was told.", toolcrib.Pure),
		func(_ context.Context, _ *toolcrib.Env, in textIn) (textOut, error) {
			return textOut{}, errors.New(in.Text)
		})
}

func explodeTool() toolcrib.Tool {
	return toolcrib.Define(demoSpec("explode", "Panics.", toolcrib.Pure),
		func(_ context.Context, _ *toolcrib.Env, in textIn) (textOut, error) { panic(in.Text) })
}

// vanishTool gives no result and no error, as a careless bridge might.
func vanishTool() toolcrib.Tool {
	return toolcrib.Tool{
		Spec: demoSpec("vanish", "Gives nothing at all.", toolcrib.Pure),
		Run:  func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) { return nil, nil },
	}
}

// liarTool promises one thing and answers another.
func liarTool() toolcrib.Tool {
	spec := demoSpec("liar", "Breaks its contract.", toolcrib.Pure)
	spec.Output = json.RawMessage(`{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}`)
	return toolcrib.Tool{
		Spec: spec,
		Run: func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			return &toolcrib.Result{Value: json.RawMessage(`{"sum":"about ten"}`)}, nil
		},
	}
}

type sleepIn struct {
	Millis int `json:"millis" doc:"How long, in milliseconds." min:"0" max:"60000"`
}

func sleepTool() toolcrib.Tool {
	return toolcrib.Define(demoSpec("sleep", "Waits, and stops when it is told to.", toolcrib.Pure),
		func(ctx context.Context, _ *toolcrib.Env, in sleepIn) (textOut, error) {
			select {
			case <-time.After(time.Duration(in.Millis) * time.Millisecond):
				return textOut{"awake"}, nil
			case <-ctx.Done():
				return textOut{}, ctx.Err()
			}
		})
}

func stubbornTool() toolcrib.Tool {
	return toolcrib.Define(demoSpec("stubborn", "Waits, whatever it is told.", toolcrib.Pure),
		func(_ context.Context, _ *toolcrib.Env, in sleepIn) (textOut, error) {
			time.Sleep(time.Duration(in.Millis) * time.Millisecond)
			return textOut{"awake"}, nil
		})
}

type relayIn struct {
	Tool  string         `json:"tool" doc:"The tool to use."`
	Input map[string]any `json:"input,omitempty" doc:"Its arguments."`
}

func relayTool() toolcrib.Tool {
	return toolcrib.Define(demoSpec("relay", "Uses another tool and answers what it answered.", toolcrib.Pure),
		func(ctx context.Context, env *toolcrib.Env, in relayIn) (textOut, error) {
			result, err := env.Use(ctx, in.Tool, in.Input)
			if err != nil {
				return textOut{}, fmt.Errorf("using %s: %s", in.Tool, toolcrib.CodeOf(err))
			}
			return textOut{result.String()}, nil
		})
}

func consultTool() toolcrib.Tool {
	return toolcrib.Define(demoSpec("consult", "Puts a question to the person.", toolcrib.AsksPerson),
		func(ctx context.Context, env *toolcrib.Env, in textIn) (textOut, error) {
			if env.Ask == nil {
				return textOut{}, errors.New("nobody is there to be asked")
			}
			answer, err := env.Ask(ctx, toolcrib.Question{Text: in.Text})
			if err != nil {
				return textOut{}, fmt.Errorf("asking: %w", err)
			}
			return textOut{answer.Message}, nil
		})
}
