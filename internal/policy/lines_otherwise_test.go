package policy

import (
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// TestWhatTheParserReadsOtherwise: a command that every shell runs is held though
// the parser takes it for text.
func TestWhatTheParserReadsOtherwise(t *testing.T) {
	p, _ := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: Permissions{Deny: []string{"run_command(rm *)"}}})
	m := shelltest.NewMachine()
	for _, line := range []string{
		`echo "${x:-'$(rm -rf ~)'}"`, "cat <<E\n${x:-'$(rm -rf ~)'}\nE", "echo \"${x='`rm -rf ~`'}\"", `echo "${x:-${y:-'$(rm -rf ~)'}}"`, `echo $((1+'$(rm -rf ~)'))`, `bash -c 'echo "${x:-'"'"'$(rm -rf ~)'"'"'}"'`, `echo "${x:-'}" ; rm -rf ~; echo "'}"`,
		"echo $x; ls #\\\nrm -rf ~", "echo ${x:-a} #\\\nrm -rf ~", "make CC=$CC # a\\\nrm -rf ~", "make -v #\\\nrm -rf ~", "ls # a\\\n# b\\\nrm -rf ~",
		"echo $(echo \"a\"#; rm -rf ~\n)", "echo \"$(echo \"a\"#; rm -rf ~\n)\"", "cat <<E\n$(echo ''#; rm -rf ~\n)\nE", "cat <<E\n`echo \"a\"#; rm -rf ~\n`\nE", "(echo \"a\"#; rm -rf ~\n)", `echo "$[";rm -rf ~;echo "]"`, `echo "$[1+" ; rm -rf ~; echo "]"`, "echo a &>/dev/null rm -rf ~", `echo $'a\'; rm -rf ~; echo "'" #"`,
		"echo $x\ncat <<E\n\\\nE\nrm -rf ~\nE", "cat <<E\n\\\nE\nrm -rf ~\nE", "echo `cat <<E\n\\\nE\nrm -rf ~\nE\n`", "sh -c 'ls #\\\nrm -rf ~'",
	} {
		if len(shellguard.Floor(line, optionsOn(m))) == 0 {
			t.Errorf("%q is not on the floor", line)
		}
		review := &toolcrib.Review{Spec: shellTool("run_command"), Input: mustJSON(t, map[string]string{"command": line})}
		if said := p.Rules.judge(review, nil); said.rule == nil || said.decision == toolcrib.Allow {
			t.Errorf("%q is not held", line)
		}
	}
	for _, line := range []string{`echo "${x:-'default'}"`, "ls # a comment\nls", "make \\\n  test # all", "cat <<E > x\na \\\nb\nE", "cat <<'E' > x\na\\\nE", `echo "it's ${x:-a}"`, "echo $((1 + 2))", "echo $[1+2]", "make &> log.txt", "echo $(ls # all\n)", `sed 's/"#fff"/x/' a.css`, "x=$(ls); # done\nls", "npm test &>/dev/null &", "echo $'a\\tb'"} {
		if why := shellguard.Floor(line, optionsOn(m)); len(why) > 0 {
			t.Errorf("%q is on the floor: %v", line, why)
		}
	}
}
