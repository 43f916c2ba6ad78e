package toolcrib

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
)

// TestParsedInput: the parsed form of an input is taken for that very input only,
// and once. For another text it would be the wrong one.
func TestParsedInput(t *testing.T) {
	type in struct {
		A int `json:"a"`
	}
	tool := Define(Spec{Name: "look", Title: "Look", Description: "Looks.", Effects: Pure, Group: "x"},
		func(_ context.Context, _ *Env, _ in) (map[string]bool, error) { return map[string]bool{}, nil })
	found := map[string]bool{}
	tool.Run = func(_ context.Context, env *Env, input json.RawMessage) (*Result, error) {
		found["no Env"] = (*Env)(nil).parsed(input) != nil
		found["nothing"] = env.parsed(nil) != nil
		found["a copy"] = env.parsed(bytes.Clone(input)) != nil
		found["a part"] = env.parsed(input[:len(input)-1]) != nil
		found["itself"] = env.parsed(input) != nil
		found["itself, again"] = env.parsed(input) != nil
		return &Result{Value: []byte(`{}`)}, nil
	}
	c := testCrib(t, tool)
	if _, err := c.Call(t.Context(), Call{Tool: "look", Input: []byte(`{"a":1}`), Caller: Caller{Subject: "ann"}}); err != nil {
		t.Fatal(err)
	}
	for what, is := range found {
		if is != (what == "itself") {
			t.Errorf("%s: %v", what, is)
		}
	}
	if len(found) != 6 {
		t.Errorf("only %v", found)
	}
}
