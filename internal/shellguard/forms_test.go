package shellguard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/shellguard/shelltest"
)

func TestFormsOfSedScripts(t *testing.T) {
	for _, s := range []string{
		"p", "1p", "1,5p", "$p", "1!p", "1~2p", "0~3d", "/a/p", "/a/,/b/p", "/a/I,+3p", "1,~4p", "/a/!d", "p;p", "p; d", "{p}", "1{p;d}", "1{p;d;}", "$!N", "1!G;h;$!d", "s/a/b/", "s/a/b/g", "s/a/b/2gp", "s|a|b|", "s,a,b,I", "s#a#b#",
		"s/a\\/b/c/", "s/[a-z]*/x/", "s/[^]a]/x/", "s/[]a]/x/", "s/[[:space:]]*$//", "s/a/\\n/", "y/abc/xyz/", "=", "l", "l 5", "q", "q5", "Q", "5q", "n;d", "x", "z", "s/a/b/;s/c/d/", "p\nd", " p ",
	} {
		if why := checkSedScript(s); why != "" {
			t.Errorf("%q: %s", s, why)
		}
	}
	for _, s := range []string{
		"w f", "W f", "r f", "R f", "e", "e x", "F", "1e x", "s/a/b/e", "s/a/b/w f", "s/a/b/gw f", "s/a/b/pe", "a x", "i x", "c x", "a\\", ":a", "b", "bx", "t", "T", "v", "}", "{", "{p", "p}", "{{p}", "p x", "px", "p p", "s/a/b", "s/a", "s", "s/[/]/x/", "s/[/w f", "/[/]/p",
		"s/[\\/]/x/", "\\,a,p", "s a b ", "saabaca", "s\\a\\b\\", "1,p", ",5p", "1~p", "1,+p", "1,~p", "#x", "y/a/b", "y/a/b/w f", "s/a/b\\\n/w f", "s/a\n/b/", "s/a/b\nc/", "s/a/b\np", "/a\np", "y/a\n/bc/", "\\xaxp", "1,\\xaxp", "s/a/b/x", "q x", "l x", "s/[[:space:/]/x/", "s/[[.a/x/", "s/a/b/ g w f",
	} {
		if checkSedScript(s) == "" {
			t.Errorf("%q is taken for harmless", s)
		}
	}
	for re, want := range map[string]bool{"a": true, "[a]": true, "[": false, "[]": false, "[]]": true, "[^]]": true, "[^]": false, "\\[": true, "[[:alpha:]]": true, "[[:alpha:]": false, "[[:alpha": false, "[a\\]": false, "[a][": false, "[[]": true, "[[x]": true} {
		if closedBrackets(re) != want {
			t.Errorf("the brackets of %q: closed is %v", re, !want)
		}
	}
}

func TestFormsOfVariables(t *testing.T) {
	for _, s := range []string{"LC_ALL=C", "LANG=de_DE.UTF-8", "LC_CTYPE=C.utf8", "TZ=UTC", "TZ=Europe/Berlin", "TZ=Etc/GMT+5", "TZ=America/Argentina/Salta", "NO_COLOR=1", "CI=", "TERM=dumb", "PAGER=cat", "GIT_OPTIONAL_LOCKS=0", "COLUMNS=80"} {
		if name, value, _ := strings.Cut(s, "="); !harmlessVariable(name, value) {
			t.Errorf("%s asks", s)
		}
	}
	for _, s := range []string{"LC_ALL=", "LC_ALL=x", "LC_ALL=../a.UTF-8", "LC_ALL=/a.UTF-8", "LC_ALL=a b.UTF-8", "LC_ALL=.UTF-8", "LC_ALL=C.UTF-8/../x", "TZ=", "TZ=/etc/x", "TZ=:x", "TZ=../x", "TZ=a/../b", "TZ=a/b/c/d", "TZ=a b", "TZ=a//b", "CI=a b", "CI=-x", "CI=a/b", "CI=a;b", "CI=$x", "CI=é",
		"TERM=x", "PAGER=less", "GIT_OPTIONAL_LOCKS=1", "PATH=C", "IFS=", "LD_PRELOAD=x", "HOME=x", "FOO=1", "=x"} {
		if name, value, _ := strings.Cut(s, "="); harmlessVariable(name, value) {
			t.Errorf("%s is taken for harmless", s)
		}
	}
	for name, want := range map[string]bool{"i": true, "file": true, "f2": true, "PATH": false, "Path": false, "ld_preload": false, "histchars": false, "path": false, "": false, "é": false} {
		if harmlessLoopName(name) != want {
			t.Errorf("a loop over %q: harmless is %v", name, !want)
		}
	}
}

// TestFormsOfPrograms are arguments that are easily judged the wrong way.
func TestFormsOfPrograms(t *testing.T) {
	opt := optionsOn(shelltest.NewMachine())
	for _, line := range []string{
		"find . -mtime -7", "find . -size -10k", "find . -perm -u+w", "find . -mmin -60 -type f", "find -P . -name x", "find", "jq --arg a b '.[$a]' x", "jq --argjson a 1 . x", "jq .env x", "jq '.a.env' x", "jq '.environment' x", "jq '.[].includes' x",
		"xxd -l 16 -c 8 x", "xxd -p x", "awk -v a=1 '{print a}' x", "awk '$3 >= 10' x", "awk '$3 > 10' x", "cat <<E\n$x\nE", "awk '/a/ || /b/' x", "grep -e a -e b x", "grep -- a x", "sort -k 2,2n -t : x", "uniq -f 1 x", "head -n -5 x", "seq 5 -1 1", "date -d yesterday +%F", "date -Iseconds",
		"ps -eo pid,cmd", "ps -p 1", "git config --get remote.origin.url", "git tag -l", "git branch --no-merged main", "git log -L 1,5:x", "git show :/fix", "printf '%5.2f %d%%\\n' 1 2", "printf -- x", "strings -n 8 x", "strings -8 x", "sleep 0.5", "sleep 5s",
		"test a = b", "[ 1 -eq 1 ]", "[ -n x -a -z '' ]", "! test -e x", "ionice -c 3 ls", "stdbuf -oL ls", "nice -5 ls", "timeout -k 5 10 ls", "set -o pipefail", "tree -L 1 --noreport", "du -d 1", "fd -e go x src", "node --version", "java -version", "ls > /dev/null", "cat < x", "grep 'a b' --include=*.go -r src",
	} {
		if l := Analyze(line, opt); !l.ReadOnly() {
			t.Errorf("%q asks: %v", line, l.Explain())
		}
	}
	for _, line := range []string{
		"find . -mtime -x", "find . -name -print", "find . -name", "find . -size -", "jq --arg a", "jq --arg a --arg b c", "jq --arg -a b .", "jq --argjson a $x .", "jq .[env] x", "jq '..env' x", "jq '1.env' x", "jq 'env|.a' x", "jq '(env)' x", "jq -n '[import]' x", "jq",
		"xxd -bi x", "xxd -ab x", "xxd -ru x", "awk -v a '{print}' x", "awk -vx '{print}' x", "awk", "awk '$3 > 10 {print > 1}' x", "awk '/{/ && $3 > 10' x", "awk '/a|b/' x", "grep -e", "grep -e -f x", "sort -k", "sort -k -o x", "uniq -f", "head -n -x y", "seq 1 $x", "date yesterday", "date -d", "printf", "printf '%n' x", "printf '%5n' x", "printf '%(%F)T'",
		"sleep 61", "sleep 1m", "sleep 0x10", "sleep nan", "sleep -1", "sleep 1e9", "test -v x", "[ a = b", "[", "test -X y", "exit x", "exit 1 2", "set -o noclobber", "set -f x", "set +e", "pwd x", "cd a b", "cd -", "cd ''", "unzip x", "zipinfo a b", "git config user", "git config --get alias.token", "nproc 5", "hostname x", "type", "which", "ps ex", "ps aux x",
		"timeout -x 5 ls", "timeout", "nice -n", "stdbuf -x ls", "ionice -p 1", "git log --format=foo", "git branch x", "git tag x", "git tag -l -d x", "git stash list --output=x", "git reflog x", "git remote x", "tr a b c", "diff a b c", "ls > f", "ls 2> f", "cat <<E\n$TOKEN\nE", "cat <<E\n$(touch x)\nE", "ls a:~/x", "ls --x=~/y", "yarn --version", "node -e", "node --version x", "cargo +evil test", "go -C x list", "docker --version --x",
	} {
		if l := Analyze(line, opt); l.ReadOnly() {
			t.Errorf("%q is taken for harmless", line)
		}
	}
}

func TestTokens(t *testing.T) {
	for _, tt := range []struct {
		line   string
		want   string // tokens joined by |, operators in <>
		result cutting
	}{
		{"ls -la", "ls|-la", cutWhole},
		{"ls;a&&b||c|d&", "ls|<;>|a|<&&>|b|<||>|c|<|>|d|<&>", cutWhole},
		{"a 'b c' \"d e\" f\\ g", "a|b c|d e|f g", cutWhole},
		{"a'b'\"c\"\\d", "abcd", cutWhole},
		{"a # b\nc", "a|<\n>|c", cutWhole},
		{"a #\\\nc", "a|<\n>|c", cutWhole},
		{"a#b", "a#b", cutWhole},
		{"a\\\nb", "ab", cutWhole},
		{"a \\\nb", "a|b", cutWhole},
		{"a \\\n# b\nc", "a|<\n>|c", cutWhole},
		{"\"a\\\nb\\$\\x\"", "ab$\\x", cutWhole},
		{"a 2>&1 >b", "a|2|<>&>|1|<>>|b", cutWhole},
		{"a >>b <c <>d >|e", "a|<>>>|b|<<>|c|<<>>|d|<>|>|e", cutWhole},
		{"(a)", "<(>|a|<)>", cutWhole},
		{"cat <<E\nx 'y\nE\nb", "cat|<<<>|E|<\n>|b", cutWhole},
		{"cat <<'E'\n$x\nE\nb", "cat|<<<>|E|<\n>|b", cutWhole},
		{"cat <<-E\n\tx\n\tE\nb", "cat|<<<->|E|<\n>|b", cutWhole},
		{"grep \"a$\" 'b$' c$ d", "grep|a$|b$|c$|d", cutWhole},
		{"cat <<E\n$x\nE", "", cutDynamic},
		{"cat <<E\nx\\\nE\nb\nE", "", cutJoined},
		{"cat <<E\nx", "", cutOdd},
		{"cat <<\nx", "", cutOdd},
		{"a $b", "", cutDynamic}, {"a `b`", "", cutDynamic}, {"a \"$b\"", "", cutDynamic}, {"a \"`b`\"", "", cutDynamic}, {"a $'b'", "", cutDynamic}, {"a $\"b\"", "", cutDynamic}, {"a $(b)", "", cutDynamic}, {"a ${b}", "", cutDynamic}, {"a $\\\nb", "", cutDynamic},
		{"a 'b", "", cutOdd}, {"a \"b", "", cutOdd}, {"a \\", "", cutOdd}, {"a &\\\n& b", "", cutOdd}, {"a \"b\\", "", cutOdd},
	} {
		tokens, result := tokenize(tt.line)
		if result != tt.result {
			t.Errorf("%q: result %d", tt.line, result)
		}
		if result != cutWhole {
			continue
		}
		var got []string
		for _, tok := range tokens {
			if tok.word {
				got = append(got, tok.text)
			} else {
				got = append(got, "<"+tok.text+">")
			}
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%q:\n%s", tt.line, diff)
		}
	}
}

// TestSecondReading: where the parser and the tokenizer differ, it is seen.
func TestSecondReading(t *testing.T) {
	for _, tt := range []struct {
		parsed, read string
		want         bool
	}{
		{"ls a", "ls a", true},
		{"ls a", "ls\na", false},
		{"ls a", "ls;a", false},
		{"ls;a", "ls a", false},
		{"ls a", "ls b", false},
		{"ls a", "ls", false},
		{"ls", "ls a", false},
		{"ls >a", "ls >a", true},
		{"ls >a", "ls &a", false},
		{"ls a b", "ls >a b", false},
		{"a=b ls", "a=b ls", true},
		{"if a; then b; fi", "if a; then b; fi", true},
		{"for i in a; do b; done", "for i in a; do b; done", true},
		{"case a in b) c;; esac", "case a in b) c;; esac", true},
		{"ls 2>&1", "ls 2>&1", true},
		{"echo if then", "echo if then", true},
		{"ls $x", "ls $x", true}, // not literal, so nobody allows it
		{"ls xx", "ls $x", false},
	} {
		f, err := parse(tt.parsed)
		if err != nil {
			t.Fatal(err)
		}
		if got := secondReading(tt.read, f) == readSame; got != tt.want {
			t.Errorf("parsed %q, read %q: %v", tt.parsed, tt.read, got)
		}
	}
}

func TestLookIn(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"plain": "x"})
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	look := LookIn("/nonexistent", dir)
	if got, err := look("tool"); err != nil || got != dir+"/tool" {
		t.Errorf("tool: %q, %v", got, err)
	}
	for _, name := range []string{"plain", "sub", "none"} {
		if got, err := look(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
