package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// namedLines start rm or git push in ways that show only if names, files and
// code of the line are followed.
func namedLines() []string {
	return []string{
		"echo 'rm -f victim' | /proc/self/exe",
		"echo rm -f victim > f; exec < f; sh",
		"echo rm -f victim | awk '{system($0)}'",
		"printf 'rm -f victim' | perl -ne 'system $_'",
		"awk -v c='rm -f victim' 'BEGIN{system(c)}'",
		"awk 'BEGIN{system(ARGV[1])}' 'rm -f victim'",
		"printf 'rm -f victim' | cp /dev/stdin f; sh f",
		"printf 'rm -f victim' | install /dev/stdin f; sh f",
		"printf 'rm -f victim' | split - p; sh paa",
		"sed 's/hello/rm -f victim/w x' src/a.txt; sh x",
		"env -u A -S'rm -f victim'",
		"env -C . -S'rm -f victim'",
		"tar cf /dev/null -I'rm -f victim' src",
		"rsync -e'rm -f victim' a h:b",
		"zip x.zip a -T '-TTrm -f victim;'",
		"ssh -o 'ProxyCommand rm -f victim' h",
		"make --eval='x!=rm -f victim'",
		"make --eval='x=rm' --eval='t:;$(x) -f victim' t",
		"bash -c 'compgen -C \"rm -f victim\"'",
		"bash -c 'test -v \"x[\\$(rm -f victim)]\"'",
		"bash -c 'printf -v \"x[\\$(rm -f victim)]\" a'",
		"cp /bin/r? zz; ./zz -f victim",
		"env echo 'gi\\t push origin main' > f; sh f",
		"parallel ::: 'rm -f victim'",
		"vim +'!rm -f victim'",
		"cp /bin/rm zz && ./zz -f victim",
		"mv /bin/rm zz && ./zz -f victim",
		"install -m 755 /bin/rm zz && ./zz -f victim",
		"cat /bin/rm > zz; chmod +x zz; ./zz -f victim",
		"cp $(which rm) zz && ./zz -f victim",
		"cp \"$(command -v rm)\" zz && ./zz -f victim",
		"dd if=/bin/rm of=zz; chmod +x zz; ./zz -f victim",
		"ln -s /usr/bin/git g && ./g push origin master",
		"rsync /bin/rm zz && ./zz -f victim",
		"PATH=.:$PATH; cp /bin/rm zz; zz -f victim",
		"sed '1e rm -f victim' f",
		"sed -n '$e rm -f victim' f",
		"sed '/a/e rm -f victim' f",
		"sed -e 's/.*/rm -f victim/' -e e f",
		"sed 's,.*,rm -f victim,e' f",
		"echo 'rm -f victim' | sed e",
		"sed --expression='1e rm -f victim' f",
		"sed -i '1,3{e rm -f victim\n}' f",
		"sed 'e git push origin master' f",
		"setarch x86_64 rm -f victim",
		"linux64 rm -f victim",
		"faketime '2020-01-01' rm -f victim",
		"perf stat rm -f victim",
		"mywrap rm -f victim",
		"./wrap.sh rm -f victim",
		"sh run.sh rm -f victim",
		"tar cfI /dev/null 'rm -f victim' src",
		"tar -cf x --use-compress-program 'rm -f victim' y",
		"python3 -c \"import subprocess; print('x'); subprocess.run(['rm','-rf','/root'])\"",
		"python3 -c \"import os; os.system('rm -f victim')\"",
		"python3 -c \"import os; os.system('r'+'m -f victim')\"",
		"python3 -c \"import os; os.system('\\x72m -f victim')\"",
		"python3 -c \"import os; os.system('sh <<\\'E\\'\\nrm -f victim\\nE')\"",
		"python3 -c \"exec('import os; os.system(\\\"rm -f victim\\\")')\"",
		"perl -e 'exec q{rm -f victim}'",
		"ruby -e '%x(rm -f victim)'",
		"flock f git -c a=b push origin master",
		"flock f -c 'git push origin master'",
		"script -qc'git push origin master' /dev/null",
		"script --command='git push origin master' x",
		"command echo 'rm -f victim' > t.sh; sh t.sh",
		"env printf 'rm -f victim' > t.sh; sh t.sh",
		"nice echo 'rm -f victim' > t.sh; bash t.sh",
		"time echo 'rm -f victim' > t.sh; sh t.sh",
		"env cat > t.sh <<EOT\nrm -f victim\nEOT\nsh t.sh",
		"command tee t.sh <<EOT\nrm -f victim\nEOT\nsh t.sh",
		"echo 'rm -f victim' | nice tee t.sh; sh t.sh",
		"echo 'rm -f victim' | cat > t.sh; sh t.sh",
		"make --eval='t:;@rm -f victim' t",
		"make --eval 't:;@rm -f victim' t",
		"make -E 't:;@rm -f victim' t",
		"env --spl='rm -f victim'",
		"env --split-string 'rm -f victim'",
		"perl -e 'system qw(rm -f victim)'",
		"make -f src/mk SHELL='/bin/rm' .SHELLFLAGS='-f victim'",
		"make -f src/mk SHELL='/bin/rm'",
		"node -e 'require(\"child_process\").execFileSync(\"rm\",[\"-f\",\"victim\"])'",
		"sed -n '1e rm -f victim' src/a.txt",
		"sed -n '1erm -f victim' src/a.txt",
		"sed 's/.*/rm -f victim/e' src/a.txt",
		"sed -e 's/.*/rm -f victim/' -e e src/a.txt",
		"setarch -R rm -f victim",
		"setarch --addr-no-randomize rm -f victim",
		"script -qc 'rm -f victim' /dev/null",
		"script --command='rm -f victim' /dev/null",
		"script -q -c'rm -f victim' /dev/null",
		"script --command 'rm -f victim' /dev/null",
		"go vet -vettool=/bin/rm .",
		"gcc -wrapper rm,-f,victim -c src/x.c",
		"cc -wrapper rm,-f,victim src/x.c",
		"coreutils --coreutils-prog=rm -f victim",
		"sh src/sc rm -f victim",
	}
}

// TestNamedProgramsAreHeld: a rule that denies a program, and one that asks about
// it, hold however the line names it.
func TestNamedProgramsAreHeld(t *testing.T) {
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "a%d=1; ", i)
	}
	lines := append(namedLines(), many.String()+`r='rm -f victim'; sh -c "$r"`)
	many.Reset()
	for i := range 400 {
		fmt.Fprintf(&many, "x('s%d');", i)
	}
	lines = append(lines, `python3 -c "import os;`+many.String()+`os.system('rm -f victim')"`)
	list := []string{"run_command(rm *)", "run_command(git push *)"}
	for _, permissions := range []Permissions{{Deny: list}, {Ask: list}} {
		p, _ := desk(t, ModeYolo, Layer{Rank: RankUser, Permissions: permissions})
		for _, line := range lines {
			review := &toolcrib.Review{Spec: shellTool("run_command"), Input: mustJSON(t, map[string]string{"command": line})}
			if said := p.Rules.judge(review, nil); said.rule == nil || said.decision == toolcrib.Allow {
				t.Errorf("%.200q is not held", line)
			}
		}
	}
	t.Logf("%d lines", len(lines))
}
