package policy

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// TestGuardSuite holds policies to what the core wants of every guard, with rules
// and in the modes that differ most.
func TestGuardSuite(t *testing.T) {
	review := func(spec toolcrib.Entry, name, value string) toolcrib.Review {
		input, err := json.Marshal(map[string]string{name: value})
		if err != nil {
			t.Fatal(err)
		}
		spec.Input = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"command":{"type":"string"}}}`)
		return toolcrib.Review{Call: toolcrib.Call{Tool: spec.Name, Input: input, Caller: toolcrib.Caller{Subject: "ann"}}, Spec: spec, Input: input}
	}
	rules := Layer{Rank: RankUser, Permissions: Permissions{
		Allow: []string{"write_file(./src/**)", "run_command(npm run *)"}, Deny: []string{"write_file(./secret/**)", "read_file(./secret/**)", "run_command(git push *)"},
	}}
	for _, m := range []Mode{ModeDefault, ModeYolo} {
		t.Run(m.String(), func(t *testing.T) {
			cribtest.Guard(t, func(t testing.TB) toolcrib.Guard {
				p, _ := desk(t, m, rules)
				return p
			}, review(fileTool("write_file"), "path", "secret/a"), review(fileTool("read_file"), "path", "src/../secret/a"), review(shellTool("run_command"), "command", "git push --force"))
		})
	}
}
