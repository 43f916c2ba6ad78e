package policy

import (
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestMessagesAreNoPaths: what somebody says in a commit is not held against
// rules about paths; what only looks like it is.
func TestMessagesAreNoPaths(t *testing.T) {
	_, guards := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"read_file(./secrets/**)"}}})
	for line, want := range map[string]toolcrib.Decision{
		"git commit -m secrets/k": toolcrib.Allow, "git commit -am secrets/k": toolcrib.Allow, "git commit --message secrets/k": toolcrib.Allow, "git commit --message=secrets/k": toolcrib.Allow, "git commit --amend -qm secrets/k": toolcrib.Allow,
		"git commit -m a -m secrets/k": toolcrib.Allow, "git tag -m secrets/k v1": toolcrib.Allow, "echo secrets/k": toolcrib.Allow, "grep secrets/k README.md": toolcrib.Allow,
		"git commit -F -m secrets/k": toolcrib.Deny, "git commit -F secrets/k": toolcrib.Deny, "git commit -m a secrets/k": toolcrib.Deny, "git commit -Fm secrets/k": toolcrib.Deny, "git commit -C -m secrets/k": toolcrib.Deny, "git commit -m a -F secrets/k": toolcrib.Deny,
		"git commit --template -m secrets/k": toolcrib.Deny, "git add secrets/k": toolcrib.Deny, "git tag -F secrets/k v1": toolcrib.Deny, "echo x > secrets/k": toolcrib.Deny, "grep x secrets/k": toolcrib.Deny, "git commit --file=secrets/k -m a": toolcrib.Deny,
	} {
		r := toolcrib.Review{Spec: shellTool("run_command"), Input: mustJSON(t, map[string]string{"command": line})}
		if x := explain(guards, r); x.Decision != want {
			t.Errorf("%q: %v: %s", line, x.Decision, said(x))
		}
	}
}
