package reach

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// commits says why a command that is asked about would fail in git, which writes to the
// repository: in the sandbox it can be read, and no more, unless sandbox.git says so.
func (r Reachable) commits(ctx context.Context, q toolcrib.Question) error {
	if r.ReadGit == nil || r.Elsewhere || q.Spec.Box != "shell" || q.Text != "" || !r.ReadGit() {
		return nil
	}
	var in struct {
		Command string `json:"command"`
		Dir     string `json:"working_dir"`
	}
	_ = json.Unmarshal(q.Input, &in) // what cannot be read names no command
	dir := in.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Base, dir)
	}
	what := gitWrites(in.Command)
	if what == "" || !inRepository(dir) {
		return nil
	}
	box, ok := r.Crib.Sandbox.(interface {
		Explain(ctx context.Context, tool string, effects toolcrib.Effects) sandbox.Explanation
	})
	if !ok || box.Explain(ctx, q.Spec.Native, q.Effects).Backend != "linux" { // others show the repository as it is
		return nil
	}
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: fmt.Sprintf("git %s writes to the repository, which commands here can only read: 'toolcrib config set sandbox.git write' lets them (and what they leave there, your own git obeys)", what)}
}

// gitWrites names the subcommand of git by which a line is certain to write to the
// repository that it is run in, and to fail by it; "": it may not, or nobody can tell. What
// goes on where git fails (git pull || true; make) has something left to do.
func gitWrites(line string) string {
	what, writes, last := "", 0, false
	l := shellguard.Analyze(line, shellguard.Options{})
	if len(l.Unknown) > 0 {
		return ""
	}
	for _, p := range l.Programs {
		last = false
		switch {
		case p.Dynamic || len(p.Via) > 0, p.Name == "cd" || p.Name == "pushd" || p.Name == "export":
			return "" // it may be another repository
		case path.Base(p.Name) != "git":
			continue
		case len(p.Args) == 0 || !p.Args[0].Literal:
			return ""
		}
		rest := p.Args[1:]
		switch sub := p.Args[0].Text; sub {
		case "init", "clone":
			return ""
		case "stash":
			if len(rest) > 0 && (rest[0].Text == "list" || rest[0].Text == "show") {
				continue
			}
			fallthrough
		case "add", "commit", "rm", "mv", "merge", "rebase", "cherry-pick", "revert", "reset", "am", "checkout", "switch", "restore", "pull", "fetch":
			if !slices.ContainsFunc(rest, func(a shellguard.Arg) bool {
				return !a.Literal && !a.Glob || slices.Contains([]string{"-n", "--dry-run", "-h", "--help"}, a.Text)
			}) {
				what, writes, last = sub, writes+1, true
			}
		}
	}
	goesOn := strings.ContainsAny(strings.ReplaceAll(line, "&&", ""), ";&\n") || strings.Contains(line, "||") || strings.Contains(line, "|") && !last
	if goesOn && writes < len(l.Programs) {
		return ""
	}
	return what
}

// inRepository reports whether a directory lies in a repository of the usual form.
func inRepository(dir string) bool {
	for filepath.IsAbs(dir) {
		if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return info.IsDir()
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
	return false
}
