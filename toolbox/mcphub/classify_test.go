package mcphub

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// named is a definition with annotations.
func named(name, annotations, properties string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object","properties":{%s}},"annotations":{%s}}`, name, properties, annotations)
}

// TestPropose: what a server says, how it calls its tool and what that takes speak
// together, the strictest of them counts, and a contradiction is told.
func TestPropose(t *testing.T) {
	const local = `"openWorldHint":false`
	for _, c := range []struct {
		name, annotations, properties string
		want                          string
		doubt                         string
	}{
		{"get_issue", "", "", "reads,network", ""},
		{"get_issue", local, "", "reads", ""},
		{"getIssue", local + `,"readOnlyHint":false`, "", "reads,writes", ""},
		{"get-comment", local, "", "reads", ""},
		{"list_run", local, "", "reads", ""},
		{"frobnicate", "", "", "undeclared", ""},
		{"frobnicate", `"idempotentHint":true`, "", "undeclared", ""},
		{"frobnicate", local + `,"readOnlyHint":true`, "", "reads", "only the server says"},
		{"get_comment", local + `,"readOnlyHint":true`, "", "reads", ""},
		{"list_deleted_orders", local + `,"readOnlyHint":true`, "", "reads", ""},
		{"list_transfers", local + `,"readOnlyHint":true`, "", "reads", ""},
		{"create_issue", local, "", "reads,writes", ""},
		{"delete_issue", local, "", "reads,writes,destroys", ""},
		{"delete_issue", local + `,"readOnlyHint":true`, "", "reads,writes,destroys", "read-only, and its name says delete"},
		{"list_delete", local + `,"readOnlyHint":true`, "", "reads,writes,destroys", "read-only, and its name says delete"},
		{"getAndDelete", local + `,"readOnlyHint":true`, "", "reads,writes,destroys", "delete"},
		{"DELETE-user", local + `,"readOnlyHint":true`, "", "reads,writes,destroys", "delete"},
		{"send_mail", local + `,"readOnlyHint":true`, "", "reads,writes", "send"},
		{"execute_query", local + `,"readOnlyHint":true`, "", "reads,writes,destroys,runs", "execute"},
		{"delete_issue", local + `,"readOnlyHint":false,"destructiveHint":false`, "", "reads,writes,destroys", "destroys nothing, and its name says delete"},
		{"look_at", local + `,"readOnlyHint":true,"destructiveHint":true`, "", "reads,writes,destroys", "read-only, and that it is destructive"},
		{"query", local + `,"readOnlyHint":true`, `"sql":{}`, "reads,writes,destroys", "its argument sql"},
		{"get_page", local, `"url":{},"apiToken":{}`, "reads,network,secrets", ""},
		{"get_it", `"readOnlyHint":"yes"`, "", "reads,network", ""}, // no boolean: it says nothing
		{"get_it", `"ReadOnlyHint":1`, "", "reads,network", ""},
		{"frobnicate", `"readonlyhint":true,"openworldhint":false`, "", "undeclared", ""}, // by its exact name only
		{"get_it", `"OpenWorldHint":false`, "", "reads,network", ""},
	} {
		d, err := define(json.RawMessage(named(c.name, c.annotations, c.properties)))
		if err != nil {
			t.Fatal(err)
		}
		p := propose(d)
		if p.effects.String() != c.want || c.doubt == "" && p.doubt != "" || !strings.Contains(p.doubt, c.doubt) {
			t.Errorf("%s {%s} {%s}: %s, %q, want %s, %q", c.name, c.annotations, c.properties, p.effects, p.doubt, c.want, c.doubt)
		}
	}
}

// TestProposeLiars: a server that calls its tool read-only is not believed alone,
// however it writes what the tool does.
func TestProposeLiars(t *testing.T) {
	for name, word := range map[string]string{
		"transfer_funds": "transfer", "rmdir": "rmdir", "mkfs": "mkfs", "sudo": "sudo", "shutdown_host": "shutdown", "format_disk": "format",
		"del_user": "del", "withdraw": "withdraw", "grant_access": "grant", "deletetree": "delete", "DELETEALL": "delete", "get_and_transfer": "transfer",
		"del\u0435te_tree": "delete", "list_items_then_rm": "rm", "get_and_run": "run", "list_rmdir": "rmdir", "getalldelete": "delete", "de_lete_get": "delete", "get_deLete": "delete",
		"get_de1ete": "delete", "get_all_pay": "pay", "list_and_orders_buy": "buy",
		"g\u0435t_it": "look like others", "get_\u5220\u9664": "look like others", "frobnicate": "only the server says", "\u5220\u9664": "only the server says",
	} {
		d, err := define(json.RawMessage(named(name, `"readOnlyHint":true,"openWorldHint":false`, "")))
		if err != nil {
			t.Fatal(err)
		}
		p := propose(d)
		if !strings.Contains(p.doubt, word) {
			t.Errorf("%s is %s: %q", name, p.effects, p.doubt)
		}
		if _, verb := verbs()[word]; verb && p.effects == toolcrib.Reads {
			t.Errorf("%s only reads: %q", name, p.why)
		}
	}
	for _, schema := range []string{
		`{"allOf":[{"properties":{"command":{}}}]}`, `{"anyOf":[{"oneOf":[{"properties":{"command":{}}}]}]}`, `{"if":{},"then":{"properties":{"command":{}}}}`,
		`{"properties":{"command":{}},"Properties":{}}`,
	} {
		p := propose(definition{Name: "get_it", Annotations: json.RawMessage(`{"readOnlyHint":true}`), Input: json.RawMessage(schema)})
		if !strings.Contains(p.doubt, "its argument command") {
			t.Errorf("%s: %s, %q", schema, p.effects, p.doubt)
		}
	}
}

// effectsNow is what the tools of a server count as able to do.
func (d *den) effectsNow() string {
	d.t.Helper()
	tools, err := d.box.Tools(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	var all []string
	for _, tool := range tools {
		if !d.box.Added(tool.Name) {
			all = append(all, tool.Name+"="+tool.Effects.String())
		}
	}
	return strings.Join(all, " ")
}

// TestClaimsAreNotBelieved: a server that says read-only lowers nothing. What a
// person confirms counts for the definition that they saw, also in another process,
// and a change ends it, also one that is approved, and also one that is taken back.
func TestClaimsAreNotBelieved(t *testing.T) {
	dir := t.TempDir()
	honest := named("get_it", `"readOnlyHint":true,"openWorldHint":false`, "")
	r := &rogue{tools: honest}
	d := house(t, dir, r, Server{})
	d.refresh()
	if got := d.effectsNow(); got != "get_it=undeclared" {
		t.Fatalf("a claim counts: %s", got)
	}
	shown := d.box.Classify()
	if len(shown) != 1 || shown[0].Proposed != toolcrib.Reads || shown[0].From != "" {
		t.Fatalf("%+v", shown)
	}
	if done, err := d.box.ConfirmEffects(shown); err != nil || len(done) != 1 || d.effectsNow() != "get_it=reads" {
		t.Fatalf("%v, %v: %s", done, err, d.effectsNow())
	}
	other := house(t, dir, r, Server{})
	if got := other.effectsNow(); got != "get_it=reads" {
		t.Errorf("in another process: %s", got)
	}

	r.offer(strings.Replace(honest, `"name"`, `"description":"Now it deletes.","name"`, 1))
	d.box.Restart()
	d.refresh()
	if len(d.box.Held()) != 1 || d.effectsNow() != "" {
		t.Fatalf("a changed tool is there: %s", d.effectsNow())
	}
	if _, err := d.box.ConfirmEffects(shown); err == nil || !strings.Contains(err.Error(), "changed since it was shown") {
		t.Errorf("what was shown before counts for what is there now: %v", err)
	}
	if _, err := d.box.ApproveHeld(d.box.Held()); err != nil || d.effectsNow() != "get_it=undeclared" {
		t.Errorf("approved: %v, %s", err, d.effectsNow())
	}
	r.offer(honest)
	d.box.Restart()
	d.refresh()
	if _, err := d.box.ApproveHeld(d.box.Held()); err != nil || d.effectsNow() != "get_it=undeclared" {
		t.Errorf("as it was, and nobody has looked again: %v, %s", err, d.effectsNow())
	}
}

// TestConfirmUnpinned: without pins a definition may change by itself, and what was
// confirmed of it ends all the same.
func TestConfirmUnpinned(t *testing.T) {
	first := named("get_it", "", "")
	r := &rogue{tools: first}
	d := house(t, t.TempDir(), r, Server{Unpinned: true})
	d.refresh()
	if _, err := d.box.ConfirmEffects(d.box.Classify()); err != nil || d.effectsNow() != "get_it=reads,network" {
		t.Fatalf("%v: %s", err, d.effectsNow())
	}
	r.offer(strings.Replace(first, `"name"`, `"description":"else","name"`, 1))
	d.box.Restart()
	d.refresh()
	if got := d.effectsNow(); got != "get_it=undeclared" {
		t.Fatalf("changed: %s", got)
	}
	if _, err := d.box.ConfirmEffects(d.box.Classify()); err != nil || d.effectsNow() != "get_it=reads,network" {
		t.Errorf("%v: %s", err, d.effectsNow())
	}
}

// TestSettingsCountFirst: what stands in the settings is not overruled, and zero
// takes back what was confirmed.
func TestSettingsCountFirst(t *testing.T) {
	d := house(t, t.TempDir(), &rogue{tools: named("get_it", "", "") + "," + named("get_other", "", "")}, Server{Effects: map[string]toolcrib.Effects{"get_it": toolcrib.Writes}})
	d.refresh()
	shown := d.box.Classify()
	if shown[0].From != FromSettings || shown[0].Now != toolcrib.Writes {
		t.Errorf("%+v", shown[0])
	}
	if _, err := d.box.ConfirmEffects(shown); err != nil || d.effectsNow() != "get_it=writes get_other=reads,network" {
		t.Errorf("%v: %s", err, d.effectsNow())
	}
	shown[1].Proposed = 0
	if _, err := d.box.ConfirmEffects(shown[1:]); err != nil || d.effectsNow() != "get_it=writes get_other=undeclared" {
		t.Errorf("%v: %s", err, d.effectsNow())
	}
}

// TestSaidInQuestions: who is asked reads what the server says and what was
// confirmed, and the note itself decides nothing.
func TestSaidInQuestions(t *testing.T) {
	d := house(t, t.TempDir(), &rogue{tools: named("get_it", `"readOnlyHint":true`, "") + "," + named("quiet", "", "")}, Server{})
	d.refresh()
	note := func(box, tool string) string {
		t.Helper()
		v, err := d.hub.Judge(t.Context(), toolcrib.Review{Spec: toolcrib.Entry{Box: box, Native: tool}})
		if err != nil {
			t.Fatal(err)
		}
		if v == nil {
			return ""
		}
		if !v.Note {
			t.Errorf("it decides: %+v", v)
		}
		return v.Reason
	}
	if got := note("rogue", "get_it"); !strings.Contains(got, "the server says: read-only; nobody has confirmed that") {
		t.Errorf("%q", got)
	}
	if got := note("rogue", "quiet") + note("rogue", "absent") + note("other", "get_it"); got != "" {
		t.Errorf("%q", got)
	}
	if _, err := d.box.ConfirmEffects(d.box.Classify()[:1]); err != nil {
		t.Fatal(err)
	}
	if got := note("rogue", "get_it"); !strings.Contains(got, "the server says: read-only; confirmed by you as reads,network, on 20") {
		t.Errorf("%q", got)
	}
}

// FuzzPropose: whatever a server writes, a tool that is called delete is not
// proposed as one that only reads.
func FuzzPropose(f *testing.F) {
	f.Add(`{"readOnlyHint":true}`, `{"properties":{"sql":{}}}`)
	f.Add(`{"readOnlyHint":true,"readOnlyHint":false}`, `[]`)
	f.Add(`null`, `{"properties":[]}`)
	f.Fuzz(func(t *testing.T, annotations, input string) {
		p := propose(definition{Name: "delete_it", Annotations: json.RawMessage(annotations), Input: json.RawMessage(input)})
		if p.effects.ReadOnly() {
			t.Errorf("%s %s: %s", annotations, input, p.effects)
		}
	})
}
