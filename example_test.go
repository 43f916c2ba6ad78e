package toolcrib_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// The smallest crib: one tool, one guard, one call.
func Example() {
	ctx := context.Background()

	type In struct {
		Name string `json:"name" doc:"Whom to greet." minlen:"1"`
	}
	type Out struct {
		Text string `json:"text"`
	}
	greet := toolcrib.Define(
		toolcrib.Spec{Name: "greet", Description: "Greets a person.", Effects: toolcrib.Pure},
		func(_ context.Context, _ *toolcrib.Env, in In) (Out, error) {
			return Out{Text: "Good day, " + in.Name + "."}, nil
		})

	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)},
		Journal: toolcrib.NoJournal{}, // by name: a nil Journal refuses every call
	}
	crib.Catalog.Load(ctx, toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("demo", greet)}})

	out, err := toolcrib.Invoke[Out](ctx, crib, "greet", In{Name: "Ada"})
	fmt.Println(out.Text, err)

	_, err = toolcrib.Invoke[Out](ctx, crib, "greet", map[string]any{"nam": "Ada"})
	fmt.Println(err)
	// Output:
	// Good day, Ada. <nil>
	// invalid: greet: nam: unknown property; did you mean "name"? (additionalProperties); name: is required but missing; give a string (required)
}

// exampleCrib makes a crib of a few tools for the examples below.
func exampleCrib(journal toolcrib.Journal, tools ...toolcrib.Tool) *toolcrib.Crib {
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{},
		Guards:  []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure | toolcrib.Writes)},
		Journal: journal,
	}
	_, faults := crib.Catalog.Load(context.Background(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("demo", tools...)}})
	for _, f := range faults {
		fmt.Println("left out:", f)
	}
	return crib
}

// Tags say what a Go type cannot. A call that breaks them is refused before
// the function runs, and every bad field is named at once.
func ExampleDefine() {
	type Order struct {
		Part  string   `json:"part" doc:"The part's number." pattern:"^[A-Z]{2}-[0-9]{3}$"`
		Count int      `json:"count" doc:"How many." min:"1" max:"100" default:"1"`
		Speed string   `json:"speed,omitempty" doc:"How soon." enum:"normal,express"`
		Notes []string `json:"notes,omitempty" doc:"Words for the store." maxitems:"2"`
	}
	type Receipt struct {
		Line string `json:"line"`
	}
	order := toolcrib.Define(
		toolcrib.Spec{Name: "order", Description: "Orders parts from the store.", Effects: toolcrib.Writes},
		func(_ context.Context, _ *toolcrib.Env, in Order) (Receipt, error) {
			return Receipt{Line: fmt.Sprintf("%d × %s", in.Count, in.Part)}, nil
		})
	crib := exampleCrib(toolcrib.NoJournal{}, order)

	good, err := toolcrib.Invoke[Receipt](context.Background(), crib, "order", map[string]any{"part": "AB-123"})
	fmt.Println(good.Line, err)

	_, err = crib.Call(context.Background(), toolcrib.Call{
		Tool:  "order",
		Input: json.RawMessage(`{"part": "ab123", "count": 0, "speed": "fast", "notes": ["a", "b", "c"], "colour": "red"}`),
	})
	if refused, ok := toolcrib.AsError(err); ok {
		fmt.Println(refused.Code)
		for _, bad := range refused.Fields {
			fmt.Printf("%s: %s\n", bad.Path, bad.Message)
		}
	}
	// Output:
	// 1 × AB-123 <nil>
	// invalid
	// colour: unknown property; the known ones are "count", "notes", "part", "speed"
	// count: must be at least 1, got 0
	// notes: must have at most 2 elements, has 3
	// part: must match the pattern ^[A-Z]{2}-[0-9]{3}$, got the string "ab123"
	// speed: must be "normal" or "express"; got the string "fast"
}

// A call that carries an ID runs at most once: the same call again is answered
// from the journal, another call under the same ID is refused.
func ExampleCrib_Call_replay() {
	type Note struct {
		Text string `json:"text" doc:"What to keep."`
	}
	type Kept struct {
		Notes int `json:"notes"`
	}
	notes := 0
	keep := toolcrib.Define(
		toolcrib.Spec{Name: "keep", Description: "Keeps a note.", Effects: toolcrib.Writes},
		func(context.Context, *toolcrib.Env, Note) (Kept, error) {
			notes++
			return Kept{Notes: notes}, nil
		})
	journal := &cribtest.Memory{}
	crib := exampleCrib(journal, keep)

	for _, input := range []string{`{"text": "milk"}`, `{"text": "milk"}`, `{"text": "bread"}`} {
		result, err := crib.Call(context.Background(), toolcrib.Call{
			ID: "shopping-1", Tool: "keep", Input: json.RawMessage(input), Caller: toolcrib.Caller{Subject: "ann"},
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(result)
	}
	for _, r := range journal.Records() {
		if r.Replay == "" {
			fmt.Println(r.ID, string(r.Input), r.Outcome)
		} else {
			fmt.Println("again", r.Replay, string(r.Input), r.Outcome)
		}
	}
	// Output:
	// {"notes":1}
	// {"notes":1}
	// conflict: keep: the call ID shopping-1 was used for another call; use a new ID
	// shopping-1 {"text":"milk"} done
	// again shopping-1 {"text":"milk"} done
	// again shopping-1 {"text":"bread"} conflict
}

// An Adapter gives a native tool the name and shape another system knows.
// Guards and journal still see the native tool.
func ExampleAdapter() {
	type In struct {
		Text string `json:"text" doc:"Any text."`
	}
	type Out struct {
		Text string `json:"text"`
	}
	shout := toolcrib.Define(
		toolcrib.Spec{Name: "shout", Description: "Writes a text in capitals.", Effects: toolcrib.Pure},
		func(_ context.Context, _ *toolcrib.Env, in In) (Out, error) {
			return Out{Text: strings.ToUpper(in.Text)}, nil
		})
	upper := toolcrib.Adapter{
		Dialect: "acme", Box: "demo", Native: "shout",
		Spec: toolcrib.Spec{
			Name: "UpperCase", Description: "Upper-cases a phrase.",
			Input: json.RawMessage(`{"type":"object","properties":{"phrase":{"type":"string"}},"required":["phrase"]}`),
		},
		In: func(input json.RawMessage) (json.RawMessage, error) {
			var theirs struct{ Phrase string }
			if err := json.Unmarshal(input, &theirs); err != nil {
				return nil, err
			}
			return json.Marshal(In{Text: theirs.Phrase})
		},
		Out: func(_ json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error) {
			var out Out
			if err := json.Unmarshal(native.Value, &out); err != nil {
				return nil, err
			}
			return toolcrib.Text(out.Text), nil
		},
	}
	journal := &cribtest.Memory{}
	crib := exampleCrib(journal, shout)
	crib.Catalog.Load(context.Background(), toolcrib.Contents{
		Boxes:    []toolcrib.Toolbox{toolcrib.NewBox("demo", shout)},
		Adapters: []toolcrib.Adapter{upper},
	})

	result, err := crib.Call(context.Background(), toolcrib.Call{
		Tool: "UpperCase", Input: json.RawMessage(`{"phrase": "mind the gap"}`), Caller: toolcrib.Caller{Dialect: "acme"},
	})
	fmt.Println(result, err)
	for _, r := range journal.Records() {
		fmt.Printf("called %s, ran %s/%s\n", r.Tool, r.Box, r.Native)
	}
	// Output:
	// MIND THE GAP <nil>
	// called UpperCase, ran demo/shout
}
