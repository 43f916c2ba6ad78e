package cribtest

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// good are the demo tools that keep every promise.
func good(t testing.TB) toolcrib.Toolbox {
	t.Helper()
	tools, err := Setup{Tools: []string{"echo", "measure", "note"}}.tools()
	if err != nil {
		t.Fatal(err)
	}
	return toolcrib.NewBox("demo", tools...)
}

func TestDemoBoxKeepsItsPromises(t *testing.T) { Toolbox(t, good) }

// TestToolboxSuiteCanFail spoils a good box in one way at a time and wants the
// check that is about it to notice.
func TestToolboxSuiteCanFail(t *testing.T) {
	type run = func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error)
	// spoiled is a box of echo, changed.
	spoiled := func(change func(*toolcrib.Tool)) toolcrib.Toolbox {
		tool := echoTool()
		change(&tool)
		return toolcrib.NewBox("demo", tool)
	}
	running := func(f func(next run) run) toolcrib.Toolbox {
		return spoiled(func(t *toolcrib.Tool) { t.Run = f(t.Run) })
	}
	var calls atomic.Int64
	for _, c := range []struct {
		name  string
		check string
		box   toolcrib.Toolbox
	}{
		{"bad name", "contracts load", spoiled(func(t *toolcrib.Tool) { t.Name = "ec ho" })},
		{"bad schema", "contracts load", spoiled(func(t *toolcrib.Tool) { t.Input = json.RawMessage(`{"type":"nonsense"}`) })},
		{"same name twice", "contracts load", toolcrib.NewBox("demo", echoTool(), echoTool())},
		{"bad box name", "contracts load", toolcrib.NewBox("de mo", echoTool())},
		{"no description", "contracts tell enough", spoiled(func(t *toolcrib.Tool) { t.Description = " " })},
		{"undeclared effects", "contracts tell enough", spoiled(func(t *toolcrib.Tool) { t.Effects = 0 })},
		{"no group", "contracts tell enough", spoiled(func(t *toolcrib.Tool) { t.Group = "" })},
		{"no output", "contracts tell enough", spoiled(func(t *toolcrib.Tool) { t.Output = nil })},
		{"parameter without a word", "contracts tell enough", spoiled(func(t *toolcrib.Tool) {
			t.Input = json.RawMessage(`{"type":"object","properties":{"a":{"description":"A list.","type":"array","items":{"properties":{"b":{}}}}}}`)
		})},
		{"other contracts each time", "tools are listed the same again", &fickleBox{}},
		{"input nobody can give", "a plain call reaches the tool", spoiled(func(t *toolcrib.Tool) {
			t.Input = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","maxLength":0,"minLength":1}},"required":["text"]}`)
		})},
		{"panic", "a plain call reaches the tool", running(func(run) run {
			return func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) { panic("boo") }
		})},
		{"panic on NUL", "hostile inputs are answered", running(func(next run) run {
			return func(ctx context.Context, env *toolcrib.Env, in json.RawMessage) (*toolcrib.Result, error) {
				if strings.Contains(string(in), `\u0000`) {
					panic("boo")
				}
				return next(ctx, env, in)
			}
		})},
		{"fails without a word", "hostile inputs are answered", running(func(run) run {
			return func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
				return nil, errors.New("")
			}
		})},
		{"takes what it should not know", "hostile inputs are answered", spoiled(func(t *toolcrib.Tool) {
			t.Input = json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","default":""}},"additionalProperties":true}`)
		})},
		{"breaks its contract on long texts", "hostile inputs are answered", running(func(next run) run {
			return func(ctx context.Context, env *toolcrib.Env, in json.RawMessage) (*toolcrib.Result, error) {
				if len(in) > 1<<17 {
					return &toolcrib.Result{Value: json.RawMessage(`{}`)}, nil
				}
				return next(ctx, env, in)
			}
		})},
		{"pure it is not", "many calls at once", running(func(run) run {
			return func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
				return &toolcrib.Result{Value: mustJSON(map[string]string{"text": strings.Repeat("x", int(calls.Add(1)))})}, nil
			}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := examine(t.Context(), c.box)
			if err != nil {
				t.Fatal(err)
			}
			for _, check := range toolboxChecks() {
				if check.name == c.check {
					if len(check.run(t.Context(), e)) == 0 {
						t.Errorf("the check %q did not notice", c.check)
					}
					return
				}
			}
			t.Fatalf("there is no check %q", c.check)
		})
	}
	if _, err := examine(t.Context(), toolcrib.NewBox("empty")); err == nil {
		t.Error("a box without tools was examined")
	}
	e, err := examine(t.Context(), good(t))
	if err != nil {
		t.Fatal(err)
	}
	e.crib.Journal = nil
	if len(cancelledFaults(t.Context(), e)) == 0 {
		t.Error("the check of callers that have gone did not notice another refusal")
	}
}

// fickleBox describes its tool differently each time.
type fickleBox struct{ asked int }

func (b *fickleBox) Name() string { return "fickle" }

func (b *fickleBox) Tools(context.Context) ([]toolcrib.Tool, error) {
	b.asked++
	t := echoTool()
	t.Description = strings.Repeat("Again. ", b.asked)
	return []toolcrib.Tool{t}, nil
}

func TestSampleInput(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{``, `{}`},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b"]}`, `{"b":"a"}`},
		{`{"type":"integer","minimum":3}`, `3`},
		{`{"type":"number","exclusiveMinimum":3}`, `4`},
		{`{"type":"number","maximum":-3}`, `-3`},
		{`{"type":["null","boolean"]}`, `true`},
		{`{"enum":["x","y"]}`, `"x"`},
		{`{"const":7}`, `7`},
		{`{"type":"string","default":"d","examples":["e"]}`, `"e"`},
		{`{"type":"array","minItems":2,"items":{"type":"integer"}}`, `[1,1]`},
		{`{"type":"string","minLength":5}`, `"aaaaa"`},
		{`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `1`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"type":"boolean"}}}`, `true`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"$ref":"#/$defs/x"}}}`, `"a"`}, // a circle ends
	} {
		if got := string(sampleInput(json.RawMessage(c.schema))); got != c.want {
			t.Errorf("sample of %s is %s, want %s", c.schema, got, c.want)
		}
	}
}

func TestSampleMatchesPattern(t *testing.T) {
	for _, pattern := range []string{
		`^[A-Z]{2}-[0-9]{3}$`, `^\d{4}-\d{2}-\d{2}(T.*)?$`, `^(yes|no)$`, `x+y*z?`, `^[^a-z]$`, `^#([0-9a-f]{3}){1,2}$`, `^\S+@\S+\.\w{2,}$`,
	} {
		var got string
		if err := json.Unmarshal(sampleString(schemaNode{Pattern: pattern}), &got); err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("%q does not match %s", got, pattern)
		}
	}
}
