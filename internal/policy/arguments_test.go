package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestConditionsFitSchemas: a condition is held against the arguments that a tool
// has, where its schema says all of them plainly.
func TestConditionsFitSchemas(t *testing.T) {
	const closed = `{"type":"object","additionalProperties":false,"properties":{"to":{"type":"string"},"n":{"type":"integer"},"on":{"type":"boolean"},"list":{"type":"array","items":{"type":"string"}},"box":{"type":"object","properties":{"deep":{"type":"string"}},"additionalProperties":false},"either":{"type":["string","null"]},"ref":{"$ref":"#/x"}}}`
	open := strings.Replace(closed, `"additionalProperties":false,"properties":{"to"`, `"properties":{"to"`, 1)
	for _, tt := range []struct{ schema, when, want string }{
		{closed, `args.to == "x" && args.n > 1 && args.on && "a" in args.list`, ""},
		{closed, `has(args.to) && args.box.deep.startsWith("x")`, ""},
		{closed, `args.two == "x"`, `there is no argument "two": did you mean to?`},
		{closed, `args.whatever == "x"`, `there is no argument "whatever": there are box, either, list, n, on, ref, to`},
		{closed, `has(args.two)`, `did you mean to?`},
		{closed, `args["two"] == "x"`, `did you mean to?`},
		{closed, `args["to"] == 1`, `string and int`},
		{closed, `args.box.dep == "x"`, `did you mean deep?`},
		{closed, `args.box["deep"] == "x"`, ""},
		{closed, `args.on == "true"`, "bool and string"},
		{closed, `args.list.exists(x, x == 1)`, "string and int"},
		{closed, `args.n == 1 || args.n == 1.5 || args.n == "x"`, ""}, // numbers come as they are
		{closed, `args.either == null || args.ref.any == 1`, ""},
		{closed, `args.list[0] == "a" && size(args) > 1 && "to" in args`, ""},
		{open, `args.whatever == "x"`, ""},
		{open, `args.two == "x"`, `did you mean to?`},
		{`{"type":"object"}`, `args.whatever == "x"`, ""},
		{`{"type":"object","properties":{"to":{"type":"string"}},"anyOf":[{}]}`, `args.two == 1`, ""},
		{``, `args.two == 1`, ""},
		{`[1]`, `args.two == 1`, ""},
	} {
		m := Mention{when: tt.when}
		err := m.CheckCondition(&toolcrib.Entry{Spec: toolcrib.Spec{Name: "tool", Input: json.RawMessage(tt.schema)}})
		if got := errorText(err); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.when, got, tt.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FuzzArguments: whatever a server's schema is, it can be looked at.
func FuzzArguments(f *testing.F) {
	f.Add(`{"type":"object","properties":{"to":{"type":"array","items":{"type":"array"}}}}`, `args.to == ""`)
	f.Add(`{"properties":{"a":{"properties":{"b":null}}}}`, `args.a.b`)
	f.Fuzz(func(t *testing.T, schema, when string) {
		m := Mention{when: when}
		_ = m.CheckCondition(&toolcrib.Entry{Spec: toolcrib.Spec{Input: json.RawMessage(schema)}})
		if got := argumentsOf(json.RawMessage(schema)).String(); !strings.HasPrefix(got, "map(string") {
			t.Errorf("arguments are %s", got)
		}
	})
}
