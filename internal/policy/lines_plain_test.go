package policy

import "testing"

// TestRulesSeeWhatALineComputes: a deny about a place counts for a path that stands
// in a variable, a loop or a word that xargs is given.
func TestRulesSeeWhatALineComputes(t *testing.T) {
	p, _ := desk(t, ModeDefault, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"read_file(./secret/**)"}}})
	checkDeny(t, p, "read_file(./secret/**)", map[string]string{
		"d=secret; cat $d/x": "deny", "for f in secret/x; do cat $f; done": "deny", `for f in secret/*; do cat "$f"; done`: "deny", "for f in x; do git show HEAD:secret/$f; done": "deny",
		"cat $(echo secret/x)": "deny", "wc -l < $(echo secret/x)": "deny", "sh -c 'cat \"$1\"' _ secret/x": "deny", "find secret -exec cat {} +": "deny", "x=a; [ -f a ] && x=secret/x; cat $x": "deny",
		"d=src; cat $d/x": "", `for f in *.go; do head -1 "$f"; done`: "", "find src -exec cat {} +": "",
	})
	p, _ = desk(t, ModeDefault, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"run_command(git log *)"}}})
	checkDeny(t, p, "git log *", map[string]string{
		"for f in a; do git log $f; done": "deny", "echo $(git log -1)": "deny", "echo a | xargs git log": "deny", "diff <(git log) a": "deny", "x=log; git $x": "ask", "for f in a; do head $f; done": "", "x=5; echo $((x+1))": "",
	})
}
