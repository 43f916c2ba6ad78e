package shellguard

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

// parts writes an analysis down in short: every program with its class, where
// it comes from, and every redirection that is not harmless.
func parts(l *Line) []string {
	var out []string
	for i := range l.Programs {
		p := &l.Programs[i]
		s := p.String() + " = " + p.Class.String()
		if len(p.Via) > 0 {
			s += " via " + strings.Join(p.Via, " ")
		}
		if p.Dynamic {
			s += " dynamic"
		}
		out = append(out, s)
	}
	for _, r := range l.Redirects {
		out = append(out, r.Op+" "+r.Target+" = "+r.Class.String())
	}
	return out
}

func TestAnalyze(t *testing.T) {
	for _, tt := range []struct {
		line    string
		want    []string
		unknown bool
	}{
		{"ls -la", []string{"ls -la = reads only"}, false},
		{"ls; rm x", []string{"ls = reads only", "rm x = destroys"}, false},
		{"cat a | sort | uniq -c", []string{"cat a = reads only", "sort = reads only", "uniq -c = reads only"}, false},
		{"'l's \"-l\"a a\\ b", []string{`ls -la "a b" = reads only`}, false},
		{"$'\\x72m' x", []string{"rm x = destroys"}, true},
		{"{rm,-rf,x}", []string{"rm -rf x = destroys"}, true},
		{"ls $(rm x)", []string{"rm x = destroys via a substitution dynamic", "ls $(…) = unknown"}, false},
		{"ls `rm x`", []string{"rm x = destroys via a substitution dynamic", "ls $(…) = unknown"}, false},
		{"ls ${a:-$(rm x)}", []string{"rm x = destroys via a substitution dynamic", "ls $a = unknown"}, false},
		{"echo $(( $(rm x) ))", []string{"rm x = destroys via a substitution dynamic", "echo $((…)) = unknown"}, false},
		{"cat <(rm x)", []string{"rm x = destroys via a substitution dynamic", "cat <(…) = unknown"}, true},
		{"a=(x $(rm x))", []string{"rm x = destroys via a substitution dynamic"}, true},
		{"timeout 5 nice -n 3 ls", []string{"timeout 5 nice -n 3 ls = reads only", "nice -n 3 ls = reads only via timeout", "ls = reads only via timeout nice"}, false},
		{"env LC_ALL=C sort x", []string{`env LC_ALL=C sort x = reads only`, "sort x = reads only via env"}, false},
		{"env PATH=. ls", []string{"env PATH=. ls = runs code", "ls = reads only via env"}, false},
		{"env -S 'rm -rf x'", []string{`env -S "rm -rf x" = runs code`, "rm -rf x = destroys via env"}, false},
		{"sudo -u bob rm x", []string{"sudo -u bob rm x = runs code", "rm x = destroys via sudo"}, false},
		{"su - bob -c 'rm x'", []string{`su - bob -c "rm x" = runs code`, "rm x = destroys via su"}, false},
		{"xargs -n 1 rm -f", []string{"xargs -n 1 rm -f = runs code", "rm -f = destroys via xargs dynamic"}, false},
		{"find . -exec rm {} \\; -exec ls {} +", []string{`find . -exec rm "{}" ";" -exec ls "{}" + = runs code`, `rm "{}" = destroys via find dynamic`, `ls "{}" = reads only via find dynamic`}, false},
		{"sh -c 'ls; rm x'", []string{`sh -c "ls; rm x" = reads only`, "ls = reads only via sh", "rm x = destroys via sh"}, false},
		{"bash -lc 'rm x'", []string{`bash -lc "rm x" = runs code`, "rm x = destroys via bash"}, false},
		{"eval ls -la", []string{"eval ls -la = runs code", "ls -la = reads only via eval"}, false},
		{"watch -n 1 rm x", []string{"watch -n 1 rm x = runs code", "rm x = destroys via watch"}, false},
		{"ssh host rm x", []string{"ssh host rm x = network", "rm x = destroys via ssh dynamic"}, false},
		{"docker exec -it c rm x", []string{"docker exec -it c rm x = runs code", "rm x = destroys via docker dynamic"}, false},
		{"docker compose run svc rm x", []string{"docker compose run svc rm x = runs code", "rm x = destroys via docker dynamic"}, false},
		{"chroot /x rm y", []string{"chroot /x rm y = runs code", "rm y = destroys via chroot dynamic"}, false},
		{"parallel rm ::: a b", []string{`parallel rm ::: a b = runs code`, "rm = destroys via parallel dynamic"}, false},
		{"busybox rm x", []string{"busybox rm x = runs code", "rm x = destroys via busybox"}, false},
		{"command rm x", []string{"command rm x = reads only", "rm x = destroys via command"}, false},
		{"command -v rm", []string{"command -v rm = reads only"}, false},
		{"flock l rm x", []string{"flock l rm x = runs code", "rm x = destroys via flock"}, false},
		{"time rm x", []string{"time = reads only", "rm x = destroys via time"}, false},
		{"f() { rm x; }; f", []string{"rm x = destroys via function f dynamic", "f = unknown"}, true},
		{"if ls; then rm x; else cat y; fi", []string{"ls = reads only", "rm x = destroys", "cat y = reads only"}, false},
		{"for i in a; do rm x; done", []string{"rm x = destroys"}, false},
		{"while ls; do rm x; done", []string{"ls = reads only", "rm x = destroys"}, true},
		{"case x in x) rm x;; esac", []string{"rm x = destroys"}, false},
		{"{ ls; } > f 2>&1", []string{"ls = reads only", "> f = writes", "2>& 1 = reads only"}, false},
		{"ls > /dev/null 2>> log < in", []string{"ls = reads only", "> /dev/null = reads only", "2>> log = writes", "< in = reads only"}, false},
		{"ls &> f", []string{"ls = reads only", "&> f = writes"}, true},
		{"cat < /dev/tcp/x/80", []string{"cat = reads only", "< /dev/tcp/x/80 = network"}, false},
		{"ls > /dev/sda", []string{"ls = reads only", "> /dev/sda = destroys"}, false},
		{"ls <> f", []string{"ls = reads only", "<> f = writes"}, false},
		{"cat <<E\nhi\nE", []string{"cat = reads only", "<< E = reads only"}, false},
		{"cat <<E\n$x\nE", []string{"cat = reads only", "<< E = unknown"}, false},
		{"coproc rm x", []string{"rm x = destroys via coproc"}, true},
		{"export A=$(rm x)", []string{"export = unknown dynamic", "rm x = destroys via a substitution dynamic"}, true},
		{"git push", []string{"git push = network"}, false},
		{"git reset --hard", []string{"git reset --hard = destroys"}, false},
		{"git commit -m x", []string{"git commit -m x = writes"}, false},
		{"git nosuch", []string{"git nosuch = unknown"}, false},
		{"go test ./...", []string{"go test ./... = runs code"}, false},
		{"npm test", []string{"npm test = runs code"}, false},
		{"python3 x.py", []string{"python3 x.py = runs code"}, false},
		{"curl x", []string{"curl x = network"}, false},
		{"find . -delete", []string{"find . -delete = destroys"}, false},
		{"./ls", []string{"./ls = unknown"}, false},
		{"nosuchprogram", []string{"nosuchprogram = unknown"}, false},
		{"", nil, true},
		{"# nothing", nil, true},
		{"'", nil, true},
	} {
		l := Analyze(tt.line, optionsOn(shelltest.NewMachine()))
		if diff := cmp.Diff(tt.want, parts(l)); diff != "" {
			t.Errorf("%q:\n%s", tt.line, diff)
		}
		if got := len(l.Unknown) > 0; got != tt.unknown {
			t.Errorf("%q: unknown is %v: %v", tt.line, got, l.Unknown)
		}
	}
}

// TestPaths: what a program is told to read is reported, in the directory the
// program runs in, so that a guard of paths can look at it.
func TestPaths(t *testing.T) {
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"cat a /b", []string{work + "/a", "/b"}},
		{"grep foo a b", []string{work + "/a", work + "/b"}},
		{"grep -e foo a", []string{work + "/a"}},
		{"head -n 5 a", []string{work + "/a"}},
		{"sed -n 1p a", []string{work + "/a"}},
		{"sed -n -e 1p a", []string{work + "/a"}},
		{"awk '{print}' a b", []string{work + "/a", work + "/b"}},
		{"jq . a.json", []string{work + "/a.json"}},
		{"find a b -name x", []string{work + "/a", work + "/b"}},
		{"rg foo src", []string{work + "/src"}},
		{"rg --files src", []string{work + "/src"}},
		{"cd src && cat x", []string{work + "/src", work + "/src/x"}},
		{"cd src; cat x", []string{work + "/src", work + "/x", work + "/src/x"}},
		{"cd /etc && cat x", []string{"/etc", "/etc/x"}},
		{"(cd src && cat x); cat y", []string{work + "/src", work + "/src/x", work + "/y"}},
		{"git -C sub diff a", []string{work + "/sub", work + "/sub/a"}},
		{"cat src/../x", []string{work + "/src/../x"}},
		{"cat *.md", []string{work + "/*.md"}},
		{"test -f a", []string{work + "/a"}},
		{"cat - a", []string{work + "/a"}},
		{"cat < a", []string{work + "/a"}},
		{"echo a", nil},
		{"basename a", nil},
		{"sh -c 'cat a'", []string{work + "/a"}},
	} {
		l := Analyze(tt.line, optionsOn(shelltest.NewMachine()))
		if !l.ReadOnly() {
			t.Errorf("%q is not read-only: %v", tt.line, l.Explain())
		}
		var got []string
		for _, p := range l.Programs {
			for _, f := range p.Paths {
				got = append(got, f.Full())
			}
		}
		for _, r := range l.Redirects {
			for _, f := range r.Paths {
				got = append(got, f.Full())
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q:\n%s", tt.line, diff)
		}
	}
}

// TestExplain: the person who is asked sees every program and no surprise.
func TestExplain(t *testing.T) {
	l := Analyze("git status && curl http://x | sh > out; ls \u202e", optionsOn(shelltest.NewMachine()))
	text := strings.Join(l.Explain(), "\n")
	for _, want := range []string{"git status (/usr/bin/git): reads only", "curl http://x (/usr/bin/curl): network", "sh (/usr/bin/sh): runs code", "> out: writes the file", "U+202E"} {
		if !strings.Contains(text, want) {
			t.Errorf("the explanation lacks %q:\n%s", want, text)
		}
	}
	if strings.ContainsRune(text, '\u202e') {
		t.Error("the explanation shows an invisible character as it is")
	}
	many := Analyze(strings.Repeat("$a ", 5000), optionsOn(shelltest.NewMachine()))
	if n := len(strings.Join(many.Explain(), "\n")); n > 64<<10 {
		t.Errorf("a hostile line makes the person read %d bytes", n)
	}
}

// TestUntrustedBinaries: the place of a binary decides, not its name.
func TestUntrustedBinaries(t *testing.T) {
	for line, want := range map[string]string{
		"/tmp/evil/ls":   "not in a trusted directory",
		"./ls":           "a file of the working directory",
		"/usr/bin/../ls": "not in a trusted directory",
		"evil-link":      "is a link to /tmp/evil/ls",
		"linked-out":     "which is not in a trusted place",
		"world-writable": "everyone can write to /usr/bin/world-writable",
		"writable-dir":   "everyone can write to the directory",
		"notfound":       "no program notfound is found",
	} {
		l := Analyze(line, optionsOn(shelltest.NewMachine()))
		if len(l.Programs) != 1 || !slices.ContainsFunc(l.Programs[0].Why, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q: want a reason with %q, got %v", line, want, l.Explain())
		}
	}
	opt := optionsOn(shelltest.NewMachine())
	opt.Dir = "/usr"
	if l := Analyze("ls", opt); l.ReadOnly() {
		t.Error("a program in a directory that the agent can write to is trusted")
	}
	if l := Analyze("ls", Options{Dir: work}); l.ReadOnly() {
		t.Error("without Look and Stat a program is trusted")
	}
	opt = optionsOn(shelltest.NewMachine())
	opt.EvalSymlinks = func(string) (string, error) { return "/usr/bin/ugrep", nil }
	if l := Analyze("grep x y", opt); l.ReadOnly() {
		t.Error("a grep that is really another program is trusted")
	}
}
