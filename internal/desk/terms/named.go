package terms

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// named adds the files that stand in a line for what its programs do: what they
// are told to go by, to send or to unpack, what they are given as their input, and
// what another program reads to them. A file with the names of others to remove is
// as good as a script.
//
// Two kinds of files count by their names alone. What is only written or removed:
// its old text means nothing. And what people work on with a linter, a formatter, a
// compiler, a test runner or git: it is changed between any two calls, by those
// tools themselves as well, and nothing could be remembered about them.
func (s *scripts) named(line *shellguard.Line) {
	for i := range line.Programs {
		p := &line.Programs[i]
		if obeys(p) {
			s.operands(p, ownWords(line, i))
		}
	}
	if !actsOtherwise(line) {
		return
	}
	for _, file := range inputs(line) {
		s.unknown = s.unknown || file == ""
		s.in(nil, file, isFile)
	}
	for i := range line.Programs {
		if p := &line.Programs[i]; p.Feeds() && !printsNames(p) {
			s.read(p)
		}
	}
}

// read adds the files of a program that reads them to another.
func (s *scripts) read(p *shellguard.Program) {
	for _, a := range p.Args {
		if !a.Glob {
			s.in(p.Dirs, a.Text, isFile)
			continue
		}
		for _, dir := range p.Dirs {
			found, err := filepath.Glob(filepath.Join(dir, a.Text))
			s.unknown = s.unknown || err != nil || len(found) > maxBound
			for _, file := range found[:min(len(found), maxBound)] {
				s.in(nil, file, isFile)
			}
		}
	}
}

// ownWords is how many words of a program are its own: those behind them, of sudo
// or xargs, are the words of what it starts.
func ownWords(line *shellguard.Line, i int) int {
	p := &line.Programs[i]
	if toolName(p.Name) == "find" {
		return 0
	}
	if i+1 < len(line.Programs) {
		q := &line.Programs[i+1]
		if own := len(p.Args) - len(q.Args) - 1; own >= 0 && len(q.Via) == len(p.Via)+1 && p.Args[own].Text == q.Name {
			return own
		}
	}
	return len(p.Args)
}

// operands adds the files that the first words of a program name.
func (s *scripts) operands(p *shellguard.Program, own int) {
	name := toolName(p.Name)
	written := written(p)
	for i, a := range p.Args[:own] {
		if !a.Literal || slices.Contains(written, i) {
			continue
		}
		for _, word := range filesIn(a.Text) {
			s.in(p.Dirs, word, func(file string) bool { return isFile(file) && s.canWrite(file) && !isDatabase(file) })
			if module, _, ok := strings.Cut(word, ":"); (ok || name == "celery") && module != "" { // uvicorn pkg.app:main
				s.in(p.Dirs, strings.ReplaceAll(module, ".", "/")+".py", isFile)
			}
		}
		if obeysDirs(name) {
			s.below(p, a.Text)
		}
	}
}

// below adds what lies in a directory that a program goes by as a whole.
func (s *scripts) below(p *shellguard.Program, word string) {
	for _, dir := range p.Dirs {
		if !filepath.IsAbs(word) {
			dir = filepath.Join(dir, word)
		} else {
			dir = word
		}
		if strings.HasPrefix(word, "-") || !isDir(dir) {
			continue
		}
		m := &meaning{seen: map[string]bool{}}
		m.walk(dir)
		s.unknown = s.unknown || m.many
		for _, file := range m.files {
			s.in(nil, file, isFile)
		}
	}
}

// obeys reports whether the files that a program is told of say what it does.
// Interpreters and scripts are not among those programs: what they do is said by
// the code, and what they are told of besides is what it works on.
func obeys(p *shellguard.Program) bool {
	_, interpreter := interpreterRulesOf(toolName(p.Name))
	return p.Class != shellguard.ReadOnly && !p.Builtin && !interpreter && !strings.Contains(p.Name, "/") && !isWorkTool(p)
}

// actsOtherwise reports whether a line does something to what it is told in other ways
// than by its words.
func actsOtherwise(line *shellguard.Line) bool {
	return slices.ContainsFunc(line.Programs, func(p shellguard.Program) bool {
		_, interpreter := interpreterRulesOf(toolName(p.Name))
		return obeys(&p) || interpreter && slices.ContainsFunc(p.Args, func(a shellguard.Arg) bool { return !a.Literal && !a.Glob })
	}) || slices.ContainsFunc(line.Redirects, shellguard.Redirect.WritesAnywhere)
}

// inputs are the files that a line opens as input for its programs; an empty name
// stands for one that is decided while the line runs.
func inputs(line *shellguard.Line) []string {
	var files []string
	for _, r := range line.Redirects {
		if !strings.Contains(r.Op, "<") || strings.Contains(r.Op, "<<") || strings.Contains(r.Op, "&") {
			continue
		}
		if len(r.Paths) == 0 && r.Target != "/dev/null" {
			files = append(files, "")
		}
		for _, p := range r.Paths {
			files = append(files, p.Full())
		}
	}
	return files
}

// filesIn are the parts of a word that may name a file: x, --option=x, -ox, @x,
// name=@x.
func filesIn(word string) []string {
	out := []string{word}
	for _, mark := range []string{"=", "@"} {
		if _, after, ok := strings.Cut(word, mark); ok {
			out = append(out, after)
		}
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		out = append(out, word[2:])
	}
	return out
}

// written are the places of the words of a program that name what it writes or
// removes.
func written(p *shellguard.Program) []int {
	name := toolName(p.Name)
	var out, operands []int
	for i, a := range p.Args {
		before := ""
		if i > 0 {
			before = p.Args[i-1].Text
		}
		switch {
		case strings.HasPrefix(before, "-") && isOutput(before), isOutput(a.Text) && strings.Contains(a.Text, "="), strings.HasPrefix(a.Text, "of="):
			out = append(out, i)
		case !strings.HasPrefix(a.Text, "-"):
			operands = append(operands, i)
		}
	}
	switch name {
	case "rm", "rmdir", "shred", "unlink", "truncate", "touch", "mkdir", "mv", "chmod", "chown", "chgrp", "ln", "tee", "trash", "gzip", "gunzip", "bzip", "xz", "zstd", "zip",
		"make", "gmake", "ninja", "just", "task": // their operands are what is made, and what they go by is found elsewhere
		return append(out, operands...)
	case "cp", "install", "rsync", "scp":
		if len(operands) > 1 {
			out = append(out, operands[len(operands)-1])
		}
	case "tar", "bsdtar", "gtar":
		if packs(p) {
			for _, i := range operands {
				if i == 0 || p.Args[i-1].Text != "-T" && p.Args[i-1].Text != "--files-from" {
					out = append(out, i)
				}
			}
		}
	}
	return out
}

// packs: tar makes an archive.
func packs(p *shellguard.Program) bool {
	for i, a := range p.Args {
		letters, short := strings.CutPrefix(a.Text, "-")
		if a.Text == "--create" || a.Text == "--append" || a.Text == "--update" || (short && !strings.HasPrefix(letters, "-") || i == 0) && strings.ContainsAny(letters, "cru") && !strings.ContainsAny(letters, "xt/.") {
			return true
		}
	}
	return false
}

// isOutput: options that name what is written.
func isOutput(option string) bool {
	name, _, _ := strings.Cut(option, "=")
	switch name {
	case "-o", "-O", "-so", "-sSo", "-sSLo", "-fsSLo", "-sLo", "-Lo", "-LO", "-qO", "-of":
		return true
	}
	return name == "--cookie-jar" || strings.HasPrefix(name, "--out") || strings.HasPrefix(name, "--log") || strings.HasPrefix(name, "--report") || strings.HasPrefix(name, "--coverage")
}

// obeysDirs: programs that do what stands in all files of a directory.
func obeysDirs(name string) bool {
	return slices.Contains([]string{"helm", "kubectl", "oc", "kustomize", "helmfile", "skaffold"}, name)
}

// printsNames: what such a program prints are names of what there is, and not
// what stands in files.
func printsNames(p *shellguard.Program) bool {
	switch toolName(p.Name) {
	case "ls", "find", "fd", "fdfind", "git", "wc", "test", "[", "basename", "dirname", "realpath", "readlink", "stat", "du", "file", "which", "tree", "sha256sum", "md5sum":
		return true
	case "grep", "egrep", "fgrep", "rg", "ag":
		return slices.ContainsFunc(p.Args, func(a shellguard.Arg) bool {
			return strings.HasPrefix(a.Text, "--files-with") || strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "--") && strings.ContainsAny(a.Text, "lLcq")
		})
	}
	return isWorkTool(p)
}

// isWorkTool reports whether a program is one of those that people work with on files:
// by itself, or started by a launcher.
func isWorkTool(p *shellguard.Program) bool {
	name := toolName(p.Name)
	if name == "go" {
		return len(p.Args) > 0 && slices.Contains([]string{"build", "test", "vet", "fmt", "mod", "get", "list", "doc", "install"}, p.Args[0].Text)
	}
	if slices.Contains(launchers(), name) {
		return startsWork(p)
	}
	return isWork(name)
}

// startsWork: npx eslint, uv run pytest, poetry run -- black.
func startsWork(p *shellguard.Program) bool {
	for i, a := range p.Args {
		if i >= maxOperands || !a.Literal || strings.ContainsAny(a.Text, "/.") {
			return false
		}
		if isWork(toolName(a.Text)) {
			return true
		}
	}
	return false
}

func isWork(name string) bool {
	switch name {
	case "git", "hg", "jj", "gh", "glab",
		"eslint", "prettier", "tsc", "biome", "standard", "xo", "stylelint", "oxlint", "jest", "vitest", "ava", "tap", "playwright", "cypress", "esbuild", "swc", "babel", "webpack", "rollup", "vite",
		"pytest", "ruff", "black", "mypy", "pyright", "flake", "pylint", "isort", "autopep", "yapf", "bandit", "coverage", "pyflakes",
		"gofmt", "goimports", "gofumpt", "golangci-lint", "staticcheck", "gotestsum", "revive", "rustfmt", "rustc", "clippy-driver",
		"gcc", "g++", "cc", "c++", "clang", "clang++", "clang-format", "clang-tidy", "cppcheck", "javac", "kotlinc", "scalac", "swiftc", "ghc", "nasm", "as", "protoc", "buf",
		"rubocop", "rspec", "phpunit", "phpstan", "php-cs-fixer", "shellcheck", "shfmt", "yamllint", "hadolint", "markdownlint", "markdownlint-cli", "cspell", "codespell", "typos", "vale", "taplo", "actionlint", "tflint", "sqlfluff", "djlint", "ktlint", "scalafmt", "pdflatex", "xelatex", "latexmk", "pandoc":
		return true
	}
	return false
}

// isDatabase: a file of SQLite's. It is data, and changes with whatever is done to
// it.
func isDatabase(file string) bool {
	const magic = "SQLite format 3\x00"
	begins, err := plainfile.Begin(file, int64(len(magic)))
	return err == nil && bytes.HasPrefix(begins, []byte(magic))
}
