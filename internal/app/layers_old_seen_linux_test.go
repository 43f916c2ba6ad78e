package app

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// namesObeyed are names that others obey, or that are protected, wherever in a project
// they lie. They are written down here, and not taken from what judges changes.
const namesObeyed = `.vscode .idea .zed .devcontainer .devcontainer.json .cursor .claude .mcp.json .windsurf .mux .eca gptme.toml codebuff.json codebuff.jsonc conductor.json .agents .toolcrib
.envrc .npmrc .yarnrc .yarnrc.yml bunfig.toml .cargo .husky .huskyrc.js .githooks .pixi .pdm-python .python-version uv.toml devbox.json .flox .direnv .hg .jj .sl .tool-versions mise.toml .config rust-toolchain.toml
.gitlab-ci.yml .travis.yml .circleci .cirrus.yml .buildkite .pre-commit-config.yaml .bashrc .profile .gitconfig
.env .env.local .env.x .aws .ssh .kube .netrc id_rsa credentials`

// obeyedPart tells whether a name is one of them.
func obeyedPart(name string) bool { return slices.Contains(strings.Fields(namesObeyed), name) }

// gitsOwn is what git writes in a repository every day.
func gitsOwn(rest []string) bool {
	switch rest[0] {
	case "objects":
		return len(rest) < 2 || rest[1] != "info"
	case "refs", "logs", "packed-refs", "index", "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "AUTO_MERGE", "MERGE_MSG":
		return true
	}
	return false
}

// obeyed tells whether a path in a project is obeyed by others, or protected.
func obeyed(rel string) bool {
	parts := strings.Split(strings.ToLower(rel), "/")
	for i, part := range parts {
		switch {
		case part == ".git" && i+1 < len(parts) && gitsOwn(strings.Split(rel, "/")[i+1:]):
		case part == ".git", obeyedPart(part), strings.HasSuffix(part, ".code-workspace"), part == ".github" && i+1 < len(parts) && (parts[i+1] == "workflows" || parts[i+1] == "actions"):
			return true
		}
	}
	return false
}

// obeyedNow is all of a project that others obey or that is protected, with what links
// there lead to, and repositories without a work tree.
func obeyedNow(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != ".git" && !strings.Contains(rel, ".git/") && has(path, "HEAD") && has(path, "objects") && has(path, "refs") {
			for _, name := range []string{"HEAD", "config", "hooks"} {
				out.WriteString(entry(filepath.Join(path, name), "repository "+filepath.Join(rel, name)))
			}
		}
		if obeyed(rel) || d.Name() == ".github" && !d.IsDir() {
			out.WriteString(entry(path, rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func has(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// entry is a line about what lies there, and what is read by its name.
func entry(path, name string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	line := name + " " + info.Mode().String()
	if to, err := os.Readlink(path); err == nil {
		line += " -> " + to
		if info, err = os.Stat(path); err != nil {
			return line + "\n"
		}
		if list, err := os.ReadDir(path); err == nil { // all that others find there
			for _, e := range list {
				line += " " + strings.TrimSpace(entry(filepath.Join(path, e.Name()), e.Name()))
			}
		}
	}
	if info.Mode().IsRegular() {
		text, err := os.ReadFile(path)
		line += fmt.Sprintf(" %q %v", text, err)
	}
	return line + "\n"
}

// differ gives the lines that only one of two has.
func differ(before, now string) string {
	var out strings.Builder
	was, is := strings.Split(before, "\n"), strings.Split(now, "\n")
	for _, part := range []struct {
		sign      string
		list, not []string
	}{{"-", was, is}, {"+", is, was}} {
		for _, line := range part.list {
			if !slices.Contains(part.not, line) {
				fmt.Fprintf(&out, "%s %.300s\n", part.sign, line)
			}
		}
	}
	return out.String()
}
