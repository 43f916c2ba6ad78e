package policy

import (
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestRulesThatForbidCommands: spellings that must not slip past, and commands
// that are not meant.
func TestRulesThatForbidCommands(t *testing.T) {
	for rule, lines := range map[string]map[string]string{
		"rm *": {
			"rm x": "deny", "/bin/rm x": "deny", "r'm' x": "deny", "\\rm x": "deny", "command rm x": "deny", "env A=1 rm x": "deny", "nice -n 5 rm x": "deny", "busybox rm x": "deny",
			"find . -exec rm {} +": "deny", "ls | xargs -0 rm": "deny", "(cd x; rm y)": "deny", "sh -c 'rm x'": "deny", "true || rm x": "deny", "rm": "deny", "sudo -u bob rm x": "deny",
			"ls": "", "echo rm x": "", "rmdir x": "", "grep rm x": "", "git rm x": "", "R=rm; $R x": "ask", "`echo rm` x": "ask", "sh -c \"$X\"": "ask", "env -S'rm x'": "deny", "env -Srm": "deny", "env --split-string=rm": "deny",
			"env --unset FOO rm -f x": "ask", "timeout --sig 9 5 rm x": "ask", "xargs --max-args 1 rm x": "ask", "flock --timeout 1 f rm x": "ask", "stdbuf --outp L rm x": "ask", "find . -exec env --unset A rm -f {} +": "ask",
			"xargs env < n": "ask", "xargs -a n env": "ask", "xargs -a n timeout 9": "ask", "rev n | xargs env": "ask", "echo mr | rev | xargs -IX env X -f x": "ask", "cat n | xargs -I% nice % -f x": "ask", "cat n | xargs -IX X": "ask",
			"ls | xargs -n 1 cat": "", "ls | xargs -I{} cat {}": "", "ls | xargs -I {} cp {} out": "", "env -u A make": "",
		},
		"rm -rf *": {
			"rm -rf x": "deny", "rm -fr x": "deny", "rm -r -f x": "deny", "rm x -rf": "deny", "rm -R --force x": "deny", "rm --recursive -f x": "deny", "rm --rec --fo x": "deny", "rm -vrf x": "deny",
			"rm -r x": "", "rm -f x": "", "rm x": "", "rm $X": "ask",
		},
		"git push *": {
			"git push": "deny", "git push origin": "deny", "git -C x push": "deny", "git --no-pager push": "deny", "git --git-dir=x push": "deny", "git --git-dir x push": "deny", "git -c a=b push": "deny",
			"git status": "", "git log push": "", "git commit -m push": "", "git $X": "ask", "git -c alias.x=push x": "ask", "git pu": "ask", "/usr/lib/git-core/git-push origin": "deny", "git-push": "deny", "env --unset X git push": "ask", "git-status": "",
		},
		"git push --force*":  {"git push --force": "deny", "git push -f": "deny", "git push origin main --force-with-lease": "deny", "git push": ""},
		"git push":           {"git push": "deny", "git push -v": "deny", "git push origin": "", "git push $X": "ask"},
		"npm run test*":      {"npm run test": "deny", "npm run test:unit": "deny", "npm run test:unit -- -v": "deny", "npm run build": "", "npm --prefix x run test": "deny"},
		"curl * example.com": {"curl example.com": "deny", "curl -s a b example.com": "deny", "curl other.com": ""},
		"sudo *":             {"sudo ls": "deny", "ls": "", "echo sudo": ""},
		"*":                  {"ls": "deny", "$X": "deny"},
		"python*":            {"python3 x.py": "deny", "python x": "deny", "pythonx": "deny", "perl x": ""},
	} {
		p, _ := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"run_command(" + rule + ")"}}})
		checkDeny(t, p, rule, lines)
	}
}

// checkDeny holds lines against the one deny rule of a policy; an empty answer is
// that it says nothing about a line.
func checkDeny(t *testing.T, p *Policy, rule string, lines map[string]string) {
	t.Helper()
	for line, want := range lines {
		said := p.Rules.judge(&toolcrib.Review{Spec: shellTool("run_command"), Input: mustJSON(t, map[string]string{"command": line})}, nil)
		got := ""
		if said.rule != nil {
			got = said.decision.String()
		}
		if got != want {
			t.Errorf("deny run_command(%s), %q: %q, want %q", rule, line, got, want)
		}
	}
}

// TestCommandsOfOtherTools: a rule about commands cannot read what another
// tool runs.
func TestCommandsOfOtherTools(t *testing.T) {
	other := toolcrib.Entry{Spec: toolcrib.Spec{Group: "exec", Effects: runs}, Box: "evil", Native: "run_command"}
	in := map[string]string{"command": "ls"}
	if got := decide(t, Permissions{Deny: []string{"run_command(rm *)"}}, other, in); got != "ask" {
		t.Errorf("deny: %q", got)
	}
	if got := decide(t, Permissions{Allow: []string{"run_command(ls *)", "evil/run_command(command:rm)", "group:exec(ls *)"}}, other, in); got != "" {
		t.Errorf("allow: %q", got)
	}
}

// TestPlainLinesAreCutRight: the short way for plain lines finds every rule that
// the long way finds.
func TestPlainLinesAreCutRight(t *testing.T) {
	var lines []string
	for _, name := range shelltest.Batteries(t) {
		for _, e := range shelltest.Battery(t, name) {
			lines = append(lines, e.Command)
		}
	}
	var p Permissions
	for _, name := range []string{"rm", "ls", "curl", "git", "git push", "touch", "cat", "xargs", "find", "sudo", "env", "sh", "grep", "go", "npm", "dd", "python3", "echo", "cd", "timeout", "head"} {
		p.Deny = append(p.Deny, "run_command("+name+" *)")
	}
	p.Allow = []string{"run_command(go test *)", "run_command(npm run *)", "run_command(touch *)", "run_command(git add *)", "run_command(make *)"}
	policy, _ := desk(t, ModeDefault, Layer{Rank: RankUser, Permissions: p})
	layer := policy.Rules.layers[0]
	plain := 0
	for _, line := range lines {
		r := toolcrib.Review{Spec: shellTool("run_command"), Input: mustJSON(t, map[string]string{"command": line})}
		short, long := newSubject(&r, &policy.Rules.opt), newSubject(&r, &policy.Rules.opt)
		long.gotWords = true // as if it were not plain
		if words, ok := short.plainWords(); ok && len(words) > 0 {
			plain++
		}
		got, _ := layer.deny.takes(short)
		want, _ := layer.deny.takes(long)
		rule, _ := allowedBy(policy.Rules.layers, short)
		slow, _ := allowedBy(policy.Rules.layers, long)
		if got != want || rule != slow {
			t.Errorf("%q: %v by the short way, %v by the long one; %v, %v", line, got, want, rule, slow)
		}
	}
	if plain < 100 {
		t.Errorf("only %d of %d lines are plain: the test shows little", plain, len(lines))
	}
}
