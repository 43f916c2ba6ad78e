package toolcrib

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// TestForeign: a tool of somebody else is on the shelf whatever its schemas are, gets
// what was sent as it was sent, and may answer what it likes; guards are told what
// does not fit.
func TestForeign(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer","default":7},"to":{"type":"string","pattern":"^(?!x)."}},"required":["to"],"additionalProperties":false}`
	for _, c := range []struct {
		name, schema, input, want string
		lenient                   bool
		unfit                     string // the first of it
		hint                      string
	}{
		{name: "fits, without defaults", schema: schema, input: `{"to":"a"}`, want: `{"to":"a"}`},
		{name: "a number as a text", schema: schema, input: `{"n":"1","to":"a"}`, want: `{"n":"1","to":"a"}`, unfit: "n type"},
		{name: "a whole number with a point", schema: schema, input: `{"n":1.0,"to":"a"}`, want: `{"n":1.0,"to":"a"}`},
		{name: "converted for who counts on it", schema: schema, input: `{"n":"1","to":"a"}`, want: `{"n":1,"to":"a"}`, lenient: true},
		{name: "for who counts on it, as good as can be", schema: schema, input: `{"n":"x","to":"a"}`, want: `{"n":"x","to":"a"}`, lenient: true, unfit: "n type", hint: "n has another type"},
		{name: "an argument too many", schema: schema, input: `{"more":1,"to":"a"}`, want: `{"more":1,"to":"a"}`, unfit: "more additionalProperties"},
		{name: "one too many where that is open", schema: `{"type":"object","properties":{"a":{}}}`, input: `{"b":1}`, want: `{"b":1}`, unfit: "b additionalProperties"},
		{name: "another case", schema: `{"type":"object","properties":{"a":{}}}`, input: `{"A":1,"a":2}`, want: `{"A":1,"a":2}`, unfit: " properties"},
		{name: "nothing declared", schema: `{"type":"object"}`, input: `{"b":1}`, want: `{"b":1}`},
		{name: "one missing", schema: schema, input: `{}`, want: `{}`, unfit: "to required", hint: "to is missing"},
		{name: "a look-ahead", schema: schema, input: `{"to":"xa"}`, want: `{"to":"xa"}`, unfit: "to pattern", hint: "to does not match"},
		{name: "no schema at all", schema: `5`, input: `{"a":1}`, want: `{"a":1}`, unfit: " schema"},
		{name: "a reference to elsewhere", schema: `{"$ref":"http://example.com/x","properties":{"a":{}}}`, input: `{"a":1}`, want: `{"a":1}`, unfit: " schema"},
		{name: "one part that nobody can check", schema: `{"properties":{"a":{"type":"any"}}}`, input: `{"a":1}`, want: `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			tool := Tool{Spec: Spec{Name: "other", Input: json.RawMessage(c.schema), Output: json.RawMessage(`{"required":["x"]}`)}, Foreign: true}
			tool.Run = func(_ context.Context, _ *Env, input json.RawMessage) (*Result, error) {
				got = string(input)
				return &Result{Value: json.RawMessage(`{}`), Content: []Content{{Type: "text", Text: "no"}}, Failed: true}, nil
			}
			crib := testCrib(t, tool)
			var unfit []FieldError
			crib.Guards = []Guard{guardFunc(func(r Review) (*Verdict, error) {
				unfit = r.Unfit
				return &Verdict{Decision: Allow, Guard: "test"}, nil
			})}
			r, err := crib.Call(t.Context(), Call{Tool: "other", Input: json.RawMessage(c.input), Lenient: c.lenient})
			if err != nil || got != c.want {
				t.Fatalf("the tool got %s, %v; want %s", got, err, c.want)
			}
			first := ""
			if len(unfit) > 0 {
				first = unfit[0].Path + " " + unfit[0].Rule
			}
			if first != c.unfit {
				t.Errorf("unfit is %q, want %q (%v)", first, c.unfit, unfit)
			}
			last := r.Content[len(r.Content)-1].Text
			if hinted := len(r.Content) > 1; hinted != (c.hint != "") || !strings.Contains(last, c.hint) {
				t.Errorf("the hint is %q, want %q", last, c.hint)
			}
		})
	}
	c := testCrib(t, Tool{Spec: Spec{Name: "other"}, Foreign: true, Run: func(context.Context, *Env, json.RawMessage) (*Result, error) { return Text("ran"), nil }})
	c.Guards = []Guard{say(Allow, "a", nil)}
	if _, err := c.Call(t.Context(), Call{Tool: "other", Input: json.RawMessage(`[1]`)}); CodeOf(err) != CodeInvalid {
		t.Errorf("a list as arguments: %v", err)
	}
}

// TestForeignEdited: what a person typed in is what counts, for guards too.
func TestForeignEdited(t *testing.T) {
	var got string
	tool := Tool{Spec: Spec{Name: "other", Input: json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`)}, Foreign: true}
	tool.Run = func(_ context.Context, _ *Env, input json.RawMessage) (*Result, error) {
		got = string(input)
		return Text("ran"), nil
	}
	c := testCrib(t, tool)
	var seen [][]FieldError
	c.Guards = []Guard{say(Ask, "b", nil), guardFunc(func(r Review) (*Verdict, error) {
		seen = append(seen, r.Unfit)
		return nil, nil
	})}
	c.Approver = approverFunc(func(_ context.Context, q Question) (Answer, error) {
		return Answer{Decision: Allow, Input: json.RawMessage(`{"n":2}`)}, nil
	})
	if _, err := c.Call(t.Context(), Call{Tool: "other", Input: json.RawMessage(`{"n":"x"}`)}); err != nil || got != `{"n":2}` {
		t.Fatalf("%s, %v", got, err)
	}
	if len(seen) < 2 || len(seen[0]) != 1 || len(seen[len(seen)-1]) != 0 {
		t.Errorf("guards were told %v", seen)
	}
}

type heldBox struct{ Toolbox }

func (heldBox) Absent() (string, map[string]string) {
	return "mail", map[string]string{"send": "a person has to look at it"}
}

type unlistedBox struct{ Toolbox }

func (unlistedBox) Absent() (string, map[string]string) {
	return "mail", map[string]string{"": "it was not listed yet"}
}

// TestAbsent: a tool that is not given out answers why, to those who could see it.
func TestAbsent(t *testing.T) {
	c := testCrib(t)
	_, faults := c.Catalog.Load(t.Context(), Contents{Boxes: []Toolbox{
		heldBox{NewBox("mail", plain("read"), plain("drop"))}, unlistedBox{NewBox("new")},
	}, Disable: []string{"mail/drop"}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	c.Visible = func(who Caller, e *Entry) bool { return who.Agent == "" || e.Group != "mail" }
	for _, tt := range []struct{ tool, agent, want string }{
		{"send", "", "there is no such tool here: a person has to look at it"},
		{"mail__send", "", "there is no such tool here: a person has to look at it"},
		{"mail__send", "child", "there is no such tool"},
		{"drop", "", "there is no such tool here: it is switched off in the configuration (tools.disable)"},
		{"new__anything", "", "there is no such tool here: it was not listed yet"},
		{"", "", "there is no such tool"},
		{"mail__other", "", "there is no such tool"},
	} {
		_, err := c.Call(t.Context(), Call{Tool: tt.tool, Caller: Caller{Agent: tt.agent}})
		if e, ok := AsError(err); !ok || e.Code != CodeNotFound || e.Message != tt.want {
			t.Errorf("%s for %q: %v, want %q", tt.tool, tt.agent, err, tt.want)
		}
	}
}
