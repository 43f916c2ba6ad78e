package policy

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestUnfit: a rule about arguments gives nothing to a call whose arguments a tool of
// others may read otherwise than we do, and takes away all the same. A rule about the
// tool as a whole holds as ever.
func TestUnfit(t *testing.T) {
	const schema = `{"type":"object","properties":{"id":{"type":"integer"},"path":{"type":"string"},"url":{"type":"string"}},"additionalProperties":false}`
	for _, tt := range []struct {
		rule  Permissions
		input string
		want  string // of the rule: deny, ask, allow; empty: it says nothing
	}{
		{cond("deny", "args.id == 5"), `{"id":5}`, "deny"},
		{cond("deny", "args.id == 5"), `{"id":"5"}`, "deny"},
		{cond("deny", "args.id == 5"), `{"id":6}`, ""},
		{cond("deny", "has(args.id) && args.id == 5"), `{"Id":5}`, "deny"},
		{cond("ask", "'id' in args"), `{"ID":5}`, "ask"},
		{cond("allow", "args.id == 6"), `{"id":6}`, "allow"},
		{cond("allow", "args.id == 6"), `{"id":6,"more":1}`, ""},
		{cond("allow", "!has(args.id)"), `{"Id":5}`, ""},
		{cond("allow", "tool == 'get'"), `{"id":"6"}`, "allow"},
		{cond("deny", "tool == 'other'"), `{"id":"6"}`, ""},
		{cond("deny", "path.startsWith('/srv/private')"), `{"path":"/tmp/x"}`, ""},
		{cond("deny", "path.startsWith('/srv/private')"), `{"path":"/tmp/x","file_path":"/srv/private/y"}`, "deny"},
		{Permissions{Deny: []string{"srv/get(domain:evil.example)"}}, `{"url":"https://good.example/"}`, ""},
		{Permissions{Deny: []string{"srv/get(domain:evil.example)"}}, `{"url":"https://good.example/","uri":"https://evil.example/"}`, "deny"},
		{Permissions{Allow: []string{"srv/get(domain:good.example)"}}, `{"url":"https://good.example/"}`, "allow"},
		{Permissions{Allow: []string{"srv/get(domain:good.example)"}}, `{"url":"https://good.example/","uri":"https://evil.example/"}`, ""},
		{Permissions{Deny: []string{"srv/get(id:5)"}}, `{"id":6}`, ""},
		{Permissions{Deny: []string{"srv/get(id:5)"}}, `{"Id":5}`, "deny"},
		{Permissions{Allow: []string{"srv/get"}}, `{"id":"6","more":[]}`, "allow"},
		{Permissions{Deny: []string{"srv/get"}}, `{"id":"6"}`, "deny"},
	} {
		tool := toolcrib.Tool{Spec: toolcrib.Spec{Name: "get", Group: "mcp", Input: json.RawMessage(schema)}, Foreign: true}
		tool.Run = func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) {
			return toolcrib.Text("ran"), nil
		}
		rules, err := NewRules([]Layer{{Rank: RankUser, Permissions: tt.rule}}, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		c := toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{onlyRules{rules}}}
		c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("srv", tool)}})
		j, err := c.Judge(t.Context(), toolcrib.Call{Tool: "get", Input: json.RawMessage(tt.input)})
		if err != nil {
			t.Fatal(err)
		}
		got, why := "", ""
		for _, v := range j.Verdicts {
			if v.Guard == "rules" {
				got, why = v.Decision.String(), v.Reason
			}
		}
		if got != tt.want {
			t.Errorf("%+v of %s: %q, want %q", tt.rule, tt.input, got, tt.want)
		}
		if told := strings.Contains(why, "do not fit the schema"); told && len(j.Review.Unfit) == 0 {
			t.Errorf("%s: %s", tt.input, why)
		}
	}
}

func cond(decision, when string) Permissions {
	return Permissions{Rules: []Condition{{Decision: decision, Tool: "srv/get", When: when}}}
}

// onlyRules is the guard of rules without a mode.
type onlyRules struct{ *Rules }

func (r onlyRules) Judge(_ context.Context, review toolcrib.Review) (*toolcrib.Verdict, error) {
	said := r.judge(&review, nil)
	if said.rule == nil {
		return nil, nil
	}
	return said.verdict(), nil
}
