package toolchains

import (
	"os"
	"path/filepath"
	"strings"
)

// Need is a tool chain that a project needs, by the files that lie in it.
type Need struct {
	Chain    string     // as in [Words], or c
	Because  string     // the file that says so
	Programs [][]string // each with the arguments that have it tell its version
	Registry string     // the word in grant.hosts that stands for where packages come from; empty: there is none
	Rules    []string   // what allowed_commands usually has for it
}

// Needs finds out what a project needs.
func Needs(dir string) []Need {
	has := func(names ...string) string {
		for _, name := range names {
			if found, err := filepath.Glob(filepath.Join(dir, name)); err == nil && len(found) > 0 {
				return filepath.Base(found[0])
			}
		}
		return ""
	}
	var out []Need
	if file := has("go.mod", "go.work"); file != "" {
		out = append(out, Need{Chain: "go", Because: file, Programs: [][]string{{"go", "version"}}, Registry: "go", Rules: []string{"go build", "go test", "go vet", "go mod tidy"}})
	}
	if file := has("package.json"); file != "" {
		n := Need{Chain: "node", Because: file, Programs: [][]string{{"node", "--version"}, {"npm", "--version"}}, Registry: "npm", Rules: []string{"npm ci", "npm test"}}
		switch {
		case has("pnpm-lock.yaml") != "":
			n.Programs[1], n.Rules = []string{"pnpm", "--version"}, []string{"pnpm install", "pnpm test"}
		case has("yarn.lock") != "":
			n.Programs[1], n.Rules = []string{"yarn", "--version"}, []string{"yarn install", "yarn test"}
		case has("bun.lock", "bun.lockb") != "":
			n.Programs, n.Rules = [][]string{{"bun", "--version"}}, []string{"bun install", "bun test"}
		}
		out = append(out, n)
	}
	if file := has("pyproject.toml", "requirements.txt", "setup.py", "Pipfile"); file != "" {
		n := Need{Chain: "python", Because: file, Programs: [][]string{{"python3", "--version"}}, Registry: "pip", Rules: []string{"python3 -m venv", "pip install -r requirements.txt", "pytest"}}
		switch {
		case has("uv.lock") != "":
			n.Programs, n.Rules = append(n.Programs, []string{"uv", "--version"}), []string{"uv sync", "uv run pytest"}
		case has("poetry.lock") != "":
			n.Programs, n.Rules = append(n.Programs, []string{"poetry", "--version"}), []string{"poetry install", "poetry run pytest"}
		}
		out = append(out, n)
	}
	if file := has("Cargo.toml"); file != "" {
		out = append(out, Need{Chain: "rust", Because: file, Programs: [][]string{{"cargo", "--version"}, {"rustc", "--version"}}, Registry: "cargo", Rules: []string{"cargo build", "cargo test"}})
	}
	if file := has("pom.xml", "build.gradle", "build.gradle.kts"); file != "" {
		n := Need{Chain: "java", Because: file, Programs: [][]string{{"javac", "-version"}}}
		switch wrapper := has("mvnw", "gradlew"); {
		case wrapper != "":
			n.Rules = []string{wrapper + " test"}
		case strings.HasPrefix(file, "pom"):
			n.Programs, n.Rules = append(n.Programs, []string{"mvn", "--version"}), []string{"mvn test"}
		default:
			n.Programs, n.Rules = append(n.Programs, []string{"gradle", "--version"}), []string{"gradle test"}
		}
		out = append(out, n)
	}
	switch file := has("CMakeLists.txt", "Makefile", "makefile", "GNUmakefile", "meson.build"); {
	case file == "":
	case file == "CMakeLists.txt":
		out = append(out, Need{Chain: "c", Because: file, Programs: [][]string{{"cmake", "--version"}, {"cc", "--version"}}, Rules: []string{"cmake --build build"}})
	case file == "meson.build":
		out = append(out, Need{Chain: "c", Because: file, Programs: [][]string{{"meson", "--version"}, {"ninja", "--version"}, {"cc", "--version"}}, Rules: []string{"ninja -C build"}})
	default:
		n := Need{Chain: "c", Because: file, Programs: [][]string{{"make", "--version"}}, Rules: []string{"make"}}
		if has("*.c", "src/*.c", "*.cpp", "*.cc", "src/*.cpp", "src/*.cc") != "" {
			n.Programs = append(n.Programs, []string{"cc", "--version"})
		}
		out = append(out, n)
	}
	return out
}

// HasRepository tells whether a directory is the top of a repository of git.
func HasRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}
