package safety

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
)

func TestSecretGrant(t *testing.T) {
	whole := &toolcrib.Grant{
		Dirs: []files.Dir{{Path: t.TempDir(), Write: true}}, Hosts: []string{"*.example.com"}, Programs: []string{"/bin/sh"},
		Secrets: []string{"A", "B", "C"}, Time: time.Second, Bounds: toolcrib.BoundFiles,
	}
	g := &SecretGrant{Names: map[string][]string{"hub": {"A"}, "hub/push": {"B", "A"}, "push": {"C"}, "any": {"*"}}, Whole: whole}
	for _, c := range []struct {
		box, tool string
		effects   toolcrib.Effects
		want      []string
	}{
		{"hub", "push", toolcrib.UsesSecrets, []string{"A", "B"}},
		{"hub", "push", 0, []string{"A", "B"}}, // undeclared counts as all
		{"hub", "pull", toolcrib.UsesSecrets, []string{"A"}},
		{"any", "x", toolcrib.UsesSecrets, []string{"A", "B", "C"}},
		{"other", "push", toolcrib.UsesSecrets, nil}, // a tool of the same name elsewhere
		{"other", "hub", toolcrib.UsesSecrets, nil},
		{"", "hub", toolcrib.UsesSecrets, nil},
	} {
		v, err := g.Judge(t.Context(), toolcrib.Review{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Effects: c.effects}, Box: c.box, Native: c.tool}})
		if err != nil || v == nil || v.Grant == nil || !v.Note {
			t.Fatalf("%s/%s: %+v, %v", c.box, c.tool, v, err)
		}
		want := *whole
		want.Secrets = c.want
		if diff := cmp.Diff(want, whole.Meet(*v.Grant)); diff != "" {
			t.Errorf("%s/%s: %s", c.box, c.tool, diff)
		}
	}
	v, err := g.Judge(t.Context(), toolcrib.Review{Spec: toolcrib.Entry{Spec: toolcrib.Spec{Effects: toolcrib.Reads}, Box: "hub", Native: "push"}})
	if v != nil || err != nil {
		t.Errorf("a tool that uses none: %+v, %v", v, err)
	}
	if got := g.All(); !slices.Equal(got, []string{"*", "A", "B", "C"}) {
		t.Errorf("all: %q", got)
	}
	// Without grants nothing is left, and without the whole nothing at all.
	v, err = (&SecretGrant{}).Judge(t.Context(), toolcrib.Review{Spec: toolcrib.Entry{Box: "hub", Native: "push"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(toolcrib.Grant{Time: time.Second, Bounds: toolcrib.BoundFiles}, whole.Meet(*v.Grant)); diff != "" {
		t.Error(diff)
	}
}

// TestSecretGrantInACrib: two tools of one box, one of them granted. The other
// cannot get the value by any name, and the guard alone allows nothing.
func TestSecretGrantInACrib(t *testing.T) {
	type in struct {
		Name string `json:"name"`
	}
	tool := func(name string) toolcrib.Tool {
		return toolcrib.Define(toolcrib.Spec{Name: name, Effects: toolcrib.UsesSecrets}, func(ctx context.Context, env *toolcrib.Env, i in) (in, error) {
			if env.Secret == nil {
				return in{"no handle"}, nil
			}
			value, err := env.Secret(ctx, i.Name)
			return in{value}, err
		})
	}
	crib := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: &cribtest.Memory{}, Grant: toolcrib.Grant{Secrets: []string{"A", "B"}},
		Secret: func(_ context.Context, _ toolcrib.Call, _ toolcrib.Entry, name string) (string, error) {
			return "value of " + name, nil
		},
	}
	g := &SecretGrant{Names: map[string][]string{"box/has": {"A"}, "elsewhere": {"B"}}, Whole: &crib.Grant}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("box", tool("has"), tool("has_none"))}}); faults != nil {
		t.Fatal(faults)
	}
	call := func(tool, name string) (string, error) {
		result, err := crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: json.RawMessage(`{"name":"` + name + `"}`)})
		if err != nil {
			return "", err
		}
		return string(result.Value), nil
	}
	crib.Guards = []toolcrib.Guard{g}
	if _, err := call("has", "A"); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("nobody allows it: %v", err)
	}
	crib.Guards = []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.UsesSecrets), g}
	if got, err := call("has", "A"); err != nil || got != `{"name":"value of A"}` {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"B", "*", ""} {
		if got, err := call("has", name); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
			t.Errorf("%q gave %q, %v", name, got, err)
		}
	}
	if got, err := call("has_none", "A"); err != nil || got != `{"name":"no handle"}` {
		t.Errorf("%q, %v", got, err)
	}
}
