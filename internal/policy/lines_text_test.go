package policy

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// handed are ways to hand a command to something that runs it: %c is the
// command, which has no quotes in it.
func handed() map[string][]string {
	return map[string][]string{
		// The command stands in the line as it is: a rule that denies it denies.
		"deny": {
			"bash <<EOF\n%c\nEOF", "sh <<'EOF'\n%c\nEOF", "bash <<-EOF\n\t%c\n\tEOF", "zsh <<\"X\"\nls\n%c\nX", "dash <<\\E\n%c\nE", "ksh -s <<E\n%c\nE", "bash -s -- a <<E\n%c\nE", "bash -x <<E\n%c\nE", "sh - <<E\n%c\nE", "bash /dev/stdin <<E\n%c\nE", "bash --norc -O expand_aliases <<E\n%c\nE",
			"bash <<< '%c'", "sh <<< \"%c\"", "bash -s <<< '%c'", ". /dev/stdin <<< '%c'", "source /dev/stdin <<E\n%c\nE", "source /dev/fd/3 3<<E\n%c\nE", "bash /dev/fd/3 3<<E\n%c\nE", "env bash <<E\n%c\nE", "timeout 5 bash <<E\n%c\nE", "sudo bash <<E\n%c\nE", "nohup sh <<E\n%c\nE", "exec bash <<E\n%c\nE", "command bash <<E\n%c\nE", "busybox sh <<E\n%c\nE", "setsid bash <<E\n%c\nE",
			"{ bash; } <<E\n%c\nE", "(sh) <<E\n%c\nE", "if true; then bash; fi <<E\n%c\nE", "while true; do bash; done <<E\n%c\nE", "f() { bash; } <<E\n%c\nE", "bash -c bash <<E\n%c\nE", "cat <<E | bash\n%c\nE", "cat <<E | sudo sh\n%c\nE", "echo '%c' | sh", "echo %c | bash", "printf '%s\\n' '%c' | sh", "printf '%c\\n' | bash -s", "echo '%c' | cat | sh", "{ echo '%c'; } | sh", "(echo ls; echo '%c') | sh", "echo '%c' | tee x | sh", "echo '%c' | env bash", "echo '%c' | ssh host", "echo '%c' | at now", "cat <<E | ssh host bash\n%c\nE", "ssh host <<E\n%c\nE", "su <<E\n%c\nE",
			"trap '%c' EXIT", "trap -- '%c' INT TERM", "trap \"%c\" 0", "alias x='%c'", "alias a=b x='%c'; x", "eval '%c'", "eval %c", "env -S '%c'", "sh -c '%c'", "bash -ec '%c'", "coproc %c", "exec %c", "nohup %c &", "setsid %c", "timeout 5 %c", "nice %c", "sudo %c", "sudo -u bob %c", "busybox sh -c '%c'", "watch '%c'", "watch %c", "script -c '%c' x", "script -qc '%c' /dev/null", "su -c '%c'", "ssh host '%c'", "ssh host %c", "find . -exec %c ;", "find . -exec sh -c '%c' ;", "xargs %c", "xargs sh -c '%c'", "parallel '%c'", "flock x -c '%c'", "f() { %c; }; f", "time %c", "docker exec x %c", "kubectl exec p -- %c", "stdbuf -oL %c", "strace %c", "unshare %c", "chroot / %c", "systemd-run %c", "command %c", "builtin eval '%c'",
		},
		// It takes guessing: a person is asked.
		"ask": {
			"x='%c'; $x", "x='%c'; eval \"$x\"", "x='%c'; bash -c \"$x\"", "x='%c'; sh <<< \"$x\"", "x='%c'; bash <<E\n$x\nE", "x='%c'; echo $x | sh", "x='%c'; trap \"$x\" EXIT", "a='%c'; b=$a; $b", "$(echo %c)", "`echo %c`", "eval $(echo %c)", "sh -c \"$(echo '%c')\"", "bash <<E\n$(echo '%c')\nE", "x=(%c); \"${x[@]}\"", "set -- %c; \"$@\"", "f() { \"$@\"; }; f %c", "declare x='%c'; $x", "export x='%c'; sh -c '$x'", "read x <<< '%c'; $x", "for x in '%c'; do $x; done", "IFS=,; x=a; %c", "printf -v x '%c'; $x", "echo '%c' > s; sh s", "echo '%c' > s.sh; chmod +x s.sh; ./s.sh", "cat > s <<E\n%c\nE\nbash s", "printf '%c\\n' | tee s; . ./s", "bash < <(echo '%c')", "source <(echo '%c')", "bash <(echo '%c')", "echo '%c' > s; bash < s", "echo '%c' > s; cp s t; sh t", "PROMPT_COMMAND='%c' bash -i", "GIT_SSH_COMMAND='%c' git fetch", "EDITOR='%c' git commit",
			"python3 -c 'import os; os.system(\"%c\")'", "python3 <<E\nimport os\nos.system('%c')\nE", "perl -e 'system(\"%c\")'", "ruby -e 'system(\"%c\")'", "node -e 'require(\"child_process\").execSync(\"%c\")'", "php -r 'system(\"%c\");'", "awk 'BEGIN{system(\"%c\")}'", "git -c alias.x='!%c' x", "git rebase -x '%c'", "git bisect run %c", "git submodule foreach '%c'", "tar cf x y --checkpoint-action=exec='%c'", "ssh -o ProxyCommand='%c' host", "rsync -e '%c' a b", "vim -c ':!%c'", "sqlite3 x '.shell %c'", "npx -c '%c'", "npm exec -- %c", "poetry run %c", "uv run %c", "make SHELL='%c'", "tmux new '%c'", "crontab - <<E\n* * * * * %c\nE", "xargs -I{} sh -c '{}' <<< '%c'", "find . -name x | xargs -I% sh -c '%c'", "bash \"$UNKNOWN\"", "eval \"$UNKNOWN\"", "bash <<< \"$UNKNOWN\"", "git config alias.x '!%c'", "expect -c 'spawn %c'", "psql -c '\\! %c'",
		},
	}
}

// TestTextThatIsRunIsJudged: a rule that denies a command, and one that asks
// about it, hold for it wherever the line hands it to.
func TestTextThatIsRunIsJudged(t *testing.T) {
	ranks := map[string]int{"": 0, "ask": 1, "deny": 2}
	for _, rule := range []struct{ rule, command string }{{"git push *", "git push --force"}, {"git push *", "git push"}, {"touch *", "touch pwned"}} {
		p, _ := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"run_command(" + rule.rule + ")"}}})
		a, _ := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Ask: []string{"run_command(" + rule.rule + ")"}}})
		for want, lines := range handed() {
			for _, form := range lines {
				line := strings.ReplaceAll(form, "%c", rule.command)
				review := &toolcrib.Review{Spec: shellTool("run_command"), Input: mustJSON(t, map[string]string{"command": line})}
				said := p.Rules.judge(review, nil)
				got := ""
				if said.rule != nil {
					got = said.decision.String()
				}
				if ranks[got] < ranks[want] {
					t.Errorf("deny %s, %q: %q, want %q", rule.rule, line, got, want)
				}
				if said := a.Rules.judge(review, nil); said.rule == nil || said.decision != toolcrib.Ask {
					t.Errorf("ask %s, %q: not asked", rule.rule, line)
				}
			}
		}
	}
}

// TestTextThatIsRunIsOnTheFloor: what no mode removes, handed to whatever runs
// it.
func TestTextThatIsRunIsOnTheFloor(t *testing.T) {
	m := shelltest.NewMachine()
	s := shellOn(t, m)
	s.Unasked = func(toolcrib.Call) bool { return true }
	n := 0
	for _, command := range []string{"git push --force", "rm -rf /", "rm -rf ~", "mkfs.ext4 /dev/sda1", "dd if=x of=/dev/sda", "chmod -R 777 /"} {
		for _, lines := range handed() {
			for _, form := range lines {
				if !strings.Contains(form, "%c") {
					continue
				}
				n++
				line := strings.ReplaceAll(form, "%c", command)
				if v := shelltest.Judge(t, s, line); v.Decision != toolcrib.Ask || v.Rule != "floor" {
					t.Errorf("%q is judged %v by %q", line, v.Decision, v.Rule)
				}
			}
		}
	}
	t.Logf("%d lines", n)
}
