package delegate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// FuzzArguments calls every tool with any arguments: each is refused with the fields that
// are wrong, or answered by an object that says whether it went well; and whoever works
// for another finds nothing, whatever it gives.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"avatar_id":"helper","task":"x"}`, `{"avatar_id":"","task":""}`, `{"name":"n","role":"r","task":"t","tools":[""],"attachments":[{}]}`, `{"agent_id":"../x","wait_seconds":-1}`,
		`{"name":"a/b","role":"r","task":"t","run_timeout_seconds":1e300}`, `{"message":null}`, `[]`, `{"avatar_id":["helper"]}`, `{"agent_id":"dlg-1","refined_task":"` + strings.Repeat("x", 70_000) + `"}`,
	} {
		f.Add(seed)
	}
	box := open(f, paper{})
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: toolcrib.NoJournal{}}
	if _, faults := crib.Catalog.Load(f.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); len(faults) > 0 {
		f.Fatal(faults)
	}
	tools, err := box.Tools(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, args string) {
		for _, tool := range tools {
			result, err := crib.Call(t.Context(), toolcrib.Call{Tool: tool.Name, Input: json.RawMessage(args), Caller: toolcrib.Caller{Subject: "ann", Agent: "lead"}})
			if e, ok := toolcrib.AsError(err); err != nil && (!ok || e.Code != toolcrib.CodeInvalid) {
				t.Fatalf("%s %q: %v", tool.Name, args, err)
			}
			var answer map[string]any
			if err == nil && json.Unmarshal(result.Value, &answer) != nil {
				t.Fatalf("%s %q: %s", tool.Name, args, result)
			}
			result, err = crib.Call(t.Context(), toolcrib.Call{Tool: tool.Name, Input: json.RawMessage(args), Caller: toolcrib.Caller{Subject: "ann", Agent: "lead/helper"}})
			if err == nil && !result.Failed {
				t.Fatalf("%s %q: a delegate was answered: %s", tool.Name, args, result)
			}
		}
	})
}
