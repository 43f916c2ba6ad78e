package toolfile

import (
	"fmt"
	"strings"
	"testing"
)

// TestNoCode: a value does not become a part of what a program takes for code. What is code as a whole is told.
func TestNoCode(t *testing.T) {
	parse := func(command string) (refused, warned bool) {
		lines := "description: x\neffects: pure\nargs:\n"
		for name, kind := range map[string]string{"a": "string", "n?": "integer", "w?": "red | green", "f?": "boolean", "l?": "string[]"} {
			if strings.Contains(command, "{"+strings.TrimSuffix(name, "?")) {
				lines += fmt.Sprintf("  %s: %s\n", name, kind)
			}
		}
		_, faults := Parse("x.yaml", []byte(lines+command+"\n"))
		for _, f := range faults {
			switch {
			case strings.Contains(f.Message, "part of the code"), strings.Contains(f.Message, "xargs takes"):
				refused = true
			case f.Warning && strings.Contains(f.Message, "is code for"):
				warned = true
			default:
				t.Errorf("%s: %v", command, f)
			}
		}
		return refused, warned
	}
	for _, command := range []string{
		`command: [sh, -c, "echo {a}"]`, `command: [/bin/bash, -ec, 'echo "{a}"']`, `command: [bash, -o, pipefail, -c, "x {a}"]`, `command: [bash, --norc, -lc, "x '{a}'"]`, `command: [env, X=1, sh, -c, ": {a}"]`,
		`command: [timeout, 5, nice, zsh, -c, ": {a}"]`, `command: [busybox, sh, -c, ": {a}"]`, `command: [fish, "--command=echo {a}"]`, `command: [sh, -c, "echo {l}"]`, `command: [sh, [-c, "echo {a}"]]`,
		`command: [docker, exec, web, sh, -c, "ls {a}"]`, `command: [find, ., -exec, sh, -c, "grep {a} $1", sh, "{{}}", ;]`, `command: [xargs, sh, -c, "echo {a}"]`,
		`command: [python3.11, -I, -c, "print('{a}')"]`, `command: [perl, -lane, "print if /{a}/"]`, `command: [perl, "-e{a};"]`, `command: [ruby, -rjson, -e, "puts '{a}'"]`, `command: [node, --eval, "x('{a}')"]`, `command: [node, "--print=x('{a}')"]`,
		`command: [php, -r, "echo '{a}';"]`, `command: [awk, "/{a}/"]`, `command: [gawk, -F, ",", -v, x=1, "/{a}/ {{print}}", file]`, `command: [sed, -n, "/{a}/p", file]`, `command: [sed, -i, -e, "s/x/{a}/", file]`, `command: [sed, -ne, "s/x/{a}/"]`,
		`command: [sed, "--expression=s/x/{a}/"]`, `command: [ssh, -p, "22", host, ls, "--x={a}"]`, `command: [env, -S, "ls {a}"]`, `command: [env, "-Sls {a}"]`, `command: [watch, "ls {a}"]`, `command: [su, -c, "ls {a}"]`,
		`command: [git, -c, "core.pager={a}", log]`, "command: [sh]\nstdin: 'echo {a}'", "command: [bash, -s]\nstdin: 'echo {a}'", "command: [python3, -]\nstdin: 'print({a})'", "command: [xargs, ls]\nstdin: '{a}'",
	} {
		if refused, _ := parse(command); !refused {
			t.Errorf("went through: %s", command)
		}
	}
	for _, command := range []string{`command: [sh, -c, "{a}"]`, `command: [python3, -c, "{a}"]`, `command: [awk, "{a}"]`, `command: [ssh, host, "{a}"]`, "command: [bash]\nstdin: '{a}'"} {
		if refused, warned := parse(command); refused || !warned {
			t.Errorf("refused %v, warned %v: %s", refused, warned, command)
		}
	}
	for _, command := range []string{
		`command: [sh, -c, 'echo "$1"', sh, "{a}"]`, `command: [sh, -c, "head -n {n} x; echo {w}"]`, `command: [sh, -c, "{f:-x}"]`, `command: [grep, -c, "x{a}"]`, `command: [grep, -e, "x{a}"]`, `command: [sed, -n, "{n}p", "x{a}"]`, `command: [sed, -i, s/x/y/, "x{a}"]`,
		`command: [awk, -v, "x={a}", "{{print x}}"]`, `command: [awk, -f, prog, "x{a}"]`, `command: [python3, x.py, -c, "x{a}"]`, `command: [python3, -m, http.server, "x{a}"]`, `command: [git, log, -c, "x{a}"]`, `command: [git, -C, /x, log, --, "x{a}"]`,
		`command: [npm, run, watch, "x{a}"]`, `command: [ssh, "x{a}"]`, `command: [ssh, -o, "User=x{a}", host, ls]`, `command: [env, "X=x{a}", ls]`, `command: [perl, -I/usr/share/see, x.pl, "x{a}"]`, "command: [xargs, -0, ls]\nstdin: 'x{a}'", "command: [cat]\nstdin: 'x{a}'",
		`command: [docker, run, "x{a}"]`, `command: [find, ., -name, "x{a}"]`, `command: [bash, -e, /x.sh, "x{a}"]`, `command: [node, x.js, -e, "x{a}"]`,
	} {
		if refused, warned := parse(command); refused || warned {
			t.Errorf("refused %v, warned %v: %s", refused, warned, command)
		}
	}
}

// TestEnds: a "--" that goes to another program keeps nothing from being an option of that.
func TestEnds(t *testing.T) {
	for command, want := range map[string]bool{"[git, log, --]": true, "[ls, --]": true, "[env, --, ls]": false, "[npm, run, x, --]": false, "[cargo, run, --]": false, "[timeout, '5', ls, --]": false, "[/usr/bin/docker, x]": false} {
		f, faults := Parse("x.yaml", []byte("description: x\ncommand: "+command+"\n"))
		if len(faults) > 0 || f.Ends() != want {
			t.Errorf("%s: %v, %v", command, f.Ends(), faults)
		}
	}
}

// TestNoOtherToolsName: a name with the sign between a box and its tool could be that of another tool in rules.
func TestNoOtherToolsName(t *testing.T) {
	for path, content := range map[string]string{"files__write_file.yaml": "", "x.yaml": "name: mcp__a__b\n", "a__b.sh": "#!/bin/sh\n# toolcrib:\n#   description: x\n"} {
		_, faults := Parse(path, []byte(content+map[bool]string{true: "command: [ls]\n"}[strings.HasSuffix(path, ".yaml")]))
		if !Broken(faults) || !strings.Contains(fmt.Sprint(faults), "pass for another one") {
			t.Errorf("%s: %v", path, faults)
		}
	}
}

// TestStartedProgram: the program behind one that starts others is no value either, and no value sets a variable of its choice.
func TestStartedProgram(t *testing.T) {
	for command, says := range map[string]string{
		`[env, "{a}", ls]`: "expects the program", `[env, -u, X, "Y=1", "{a}"]`: "expects the program", `[timeout, -k, "5", "10", "{a}"]`: "expects the program", `[nice, -n, "5", env, "{a}", ls]`: "expects the program", `[xargs, "{a}"]`: "expects the program",
		`[sudo, -u, me, --, "x{a}"]`: "expects the program", `[ls, "--{a}"]`: "chooses an option", `[ls, "-{a}=x"]`: "chooses an option",
		`[env, "X={a}", ls]`: "", `[timeout, "{a}", ls]`: "", `[nice, -n, "{a}", ls]`: "", `[env, ls, "{a}"]`: "", `[ls, "--x={a}"]`: "", `[busybox, ls, "{a}"]`: "", `[time, -p, ls, "{a}"]`: "",
	} {
		_, faults := Parse("x.yaml", []byte("description: x\nargs: {a: string}\ncommand: "+command+"\n"))
		if said := fmt.Sprint(faults); says == "" && len(faults) > 0 || !strings.Contains(said, says) {
			t.Errorf("%s: %s", command, said)
		}
	}
	if _, faults := Parse("x.yaml", []byte("description: x\nargs: {a: one | two, n: integer}\ncommand: [ls, '--{a}', '-{n}']\n")); len(faults) > 0 {
		t.Error(faults)
	}
}
