package shellguard

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// knownCommands are lines to try options with: the option stands for %.
func knownCommands() map[string]string {
	out := map[string]string{
		"tr": "tr % a b < a.txt", "seq": "seq % 3", "printf": "printf x", "awk": "awk % '{print}' a.txt", "sed": "sed % p a.txt", "date": "date %", "id": "id %", "uname": "uname %", "free": "free %", "uptime": "uptime %", "nproc": "nproc %",
		"ps": "ps %", "which": "which % ls", "whoami": "whoami", "hostname": "hostname %", "df": "df % .", "ls": "ls % .", "du": "du % .", "tree": "tree % .", "grep": "grep % a a.txt", "egrep": "egrep % a a.txt", "rg": "rg % a .", "diff": "diff % a.txt b.txt", "cmp": "cmp % a.txt b.txt",
		"comm": "comm % a.txt b.txt", "join": "join % a.txt b.txt", "basename": "basename % a.txt", "dirname": "dirname % a.txt", "gofmt": "gofmt % src", "groups": "groups", "jq": "jq % . package.json",
	}
	for name := range strings.FieldsSeq("cat head tail wc nl tac rev cut fold expand unexpand paste column sort uniq md5sum sha1sum sha256sum sha512sum b2sum cksum base64 base32 od hexdump xxd strings stat file realpath readlink") {
		out[name] = name + " % a.txt"
	}
	for sub := range strings.FieldsSeq("status log show whatchanged shortlog reflog rev-list diff diff-tree diff-index diff-files range-diff branch tag for-each-ref remote config rev-parse ls-files ls-tree blame describe cat-file merge-base show-ref name-rev cherry count-objects check-ignore check-attr symbolic-ref grep") {
		rest := map[string]string{"blame": " README.md", "config": " user.name", "symbolic-ref": " HEAD", "grep": " foo", "merge-base": " HEAD HEAD", "cat-file": " HEAD", "ls-tree": " HEAD", "rev-list": " HEAD", "shortlog": " HEAD", "diff-tree": " HEAD", "diff-index": " HEAD", "name-rev": " HEAD", "cherry": " HEAD HEAD", "range-diff": " HEAD...HEAD", "check-ignore": " build", "check-attr": " README.md", "rev-parse": " HEAD", "describe": " HEAD"}[sub]
		out["git "+sub] = "git " + sub + " %" + rest
	}
	for _, sub := range []string{"stash list", "stash show", "worktree list", "remote get-url", "reflog show"} {
		out["git "+sub] = "git " + sub + " %"
	}
	return out
}

// optionsOf lists every option that a form takes, with values that might do
// something.
func optionsOf(f *form) []string {
	out := []string{""}
	for _, c := range f.short + f.shortOpt {
		out = append(out, "-"+string(c))
	}
	for _, c := range f.shortArg + f.shortOpt {
		out = append(out, "-"+string(c)+" 1", "-"+string(c)+"pwned")
	}
	for word := range strings.FieldsSeq(f.long) {
		name := strings.TrimRight(word, "=?")
		if !strings.HasSuffix(word, "=") {
			out = append(out, "--"+name)
		}
		if name != word {
			out = append(out, "--"+name+"=1", "--"+name+"=pwned")
		}
	}
	for word := range strings.FieldsSeq(f.dash) {
		out = append(out, "-"+strings.TrimRight(word, "=?"))
	}
	return out
}

// everyOption makes TestKnownOptionsChangeNothing try all options and not
// every eighth: go test ./internal/shellguard -run KnownOptions -everyoption
var everyOption = flag.Bool("everyoption", false, "try every option of every known program")

// TestKnownOptionsChangeNothing tries the options in the tables with the real
// programs: no file changes, and none of the programs that such options could
// start by name is started.
func TestKnownOptionsChangeNothing(t *testing.T) {
	realShells(t)
	dir, env := project(t)
	helpers, calls := recorders(t, "sh", "bash", "less", "more", "pager", "pr", "gzip", "gunzip", "bzip2", "xz", "zstd", "lz4", "gpg", "gpg2", "ssh", "vi", "vim", "editor", "diff", "cat", "ls", "cmp", "curl", "hostname", "col", "man")
	env[0] = "PATH=" + helpers
	look := LookIn(SystemDirs()...)
	before := snapshot(t, dir)
	tried, seen := 0, 0
	commands := knownCommands()
	for _, key := range slices.Sorted(maps.Keys(commands)) {
		command := commands[key]
		name, _, _ := strings.Cut(command, " ")
		binary, err := look(name)
		if err != nil {
			continue
		}
		if link, err := os.Readlink(binary); err == nil && filepath.Base(link) == "sh" {
			continue
		}
		if text, err := os.ReadFile(binary); err == nil && strings.HasPrefix(string(text), "#!") {
			continue // a script starts shells and more by itself
		}
		for _, opt := range formOptions(key) {
			if seen++; !*everyOption && seen%8 != 0 {
				continue
			}
			if name == "tail" && strings.Trim(opt, "-fF") == "" || strings.Contains(opt, "follow") || strings.Contains(opt, "retry") {
				continue // would wait for more
			}
			line := strings.Replace(command, "%", opt, 1)
			if l := Analyze(line, SystemOptions(dir)); !l.ReadOnly() {
				continue
			}
			tried++
			runLine(t, "/bin/sh", strings.Replace(line, name, binary, 1)+" </dev/null", dir, env)
			if got := calls(); len(got) > 0 {
				t.Errorf("%q started %q", line, got)
			}
		}
		if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
			t.Fatalf("an option of %s changed something:\n%s", key, diff)
		}
	}
	t.Logf("%d options of %d commands tried", tried, len(commands))
	if tried < 300 {
		t.Errorf("only %d options were tried", tried)
	}
}

func formOptions(key string) []string {
	f, ok := formTable().of(key)
	if !ok {
		f = findForm(key, nil).form
	}
	return optionsOf(&f)
}

// TestHelpersAreSeen: the recorders do notice a program that an option starts.
func TestHelpersAreSeen(t *testing.T) {
	realShells(t)
	git, err := LookIn(SystemDirs()...)("git")
	if err != nil {
		t.Fatal(err)
	}
	dir, env := project(t)
	helpers, calls := recorders(t, "less", "pager", "sh")
	env[0] = "PATH=" + helpers
	runLine(t, "/bin/sh", git+" grep -O foo", dir, env)
	if len(calls()) == 0 {
		t.Error("git grep -O starts a pager, and nobody noticed")
	}
}
