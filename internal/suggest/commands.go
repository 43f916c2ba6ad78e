package suggest

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/starter"
)

// Which commands a rule is proposed for. The guards would take more, and a person may
// write any rule; but what is proposed is soon copied without much thought.

// openForms are commands of which other arguments do the same to other things: a
// program, or a program and its first words. Options that do more are asked about all
// the same: the guards know them.
const openForms = `
go build|go test|go vet|go fmt|go list|go doc
cargo build|cargo check|cargo test|cargo clippy|cargo fmt|cargo doc|cargo bench
git add|git commit|git status|git diff|git log|git show|git blame|git fetch
npm test|pnpm test|yarn test|bun test
dotnet build|dotnet test|dotnet format
golangci-lint run|ruff check|ruff format|deno test|deno lint|deno fmt
python -m pytest|python3 -m pytest|python -m unittest|python3 -m unittest|python3 -m mypy
pytest|eslint|prettier|tsc|jest|vitest|mypy|black|isort|flake8|pylint|gofmt|goimports|staticcheck|rustfmt|clang-format|shellcheck
mkdir|touch
`

func isOpenForm(words []string) bool {
	want := strings.Join(words, " ")
	for line := range strings.Lines(openForms) {
		if slices.Contains(strings.Split(strings.TrimSpace(line), "|"), want) {
			return true
		}
	}
	return false
}

// openWords is how many words stand before the * of a rule for such a command; 0: a *
// would mean too much.
func openWords(words []string) int {
	bare := func(n int) bool { return len(words) > n && bareWord.MatchString(words[n]) }
	switch words[0] {
	case "npm", "pnpm", "yarn", "bun":
		if len(words) > 2 && words[1] == "run" && bare(2) {
			return 3
		}
	case "make", "gmake", "just", "task":
		if bare(1) {
			return 2
		}
		return 0
	}
	for n := min(3, len(words)); n > 0; n-- {
		if isOpenForm(words[:n]) {
			return n
		}
	}
	return 0
}

// hasCommands: the first word says what the program does.
func hasCommands(name string) bool {
	switch name {
	case "git", "go", "npm", "yarn", "pnpm", "cargo", "make", "just", "task", "gradle", "mvn", "pip", "pip3", "docker", "podman", "kubectl", "terraform", "gh", "uv", "poetry", "helm", "apt", "apt-get", "brew", "systemctl", "toolcrib":
		return true
	}
	whole, err := shellguard.ParseRule(name + " *")
	return (err != nil || whole.Whole()) && !isInterpreter(name)
}

// never says why no rule is proposed for a program, whatever its arguments.
func never(p *shellguard.Program) string {
	name := path.Base(p.Name)
	if p.Dynamic {
		return "what it runs is decided while the line runs"
	}
	for _, n := range append([]string{name}, p.Via...) {
		word, _, _ := strings.Cut(path.Base(n), " ")
		if slices.Contains([]string{"sudo", "su", "doas", "pkexec", "run0", "runuser", "chroot", "nsenter", "unshare"}, word) {
			return "it runs a program as another user"
		}
	}
	switch {
	case isInterpreter(name) && !isOpenForm(firstWords(p, 3)):
		return "it runs code from the line, or from a file that may change; approvals allow ID --project remembers an answer as long as the file is the same"
	case slices.Contains([]string{"npx", "pnpx", "bunx", "uvx", "uv", "pipx", "poetry", "pipenv", "hatch", "bundle", "mise", "asdf", "nix", "nix-shell", "conda", "dlx", "xargs", "parallel", "concurrently", "hyperfine", "entr", "nodemon", "env", "watch", "eval", "source", "tmux", "screen", "script"}, name), name == "deno" && !isOpenForm(firstWords(p, 2)):
		return "it starts whatever program it is told"
	case slices.Contains([]string{"curl", "wget", "http", "https", "xh", "aria2c", "ssh", "scp", "sftp", "rsync", "ftp", "nc", "ncat", "socat", "telnet", "mail", "sendmail"}, name):
		return "it talks to other machines: which, and what it may send, is yours to write"
	case slices.Contains([]string{"docker", "podman", "nerdctl", "kubectl", "helm", "terraform", "tofu", "ansible", "ansible-playbook", "vagrant", "aws", "gcloud", "az", "gh", "glab", "heroku", "fly", "flyctl", "vercel", "netlify", "wrangler"}, name):
		return "what it does reaches beyond this project"
	case slices.Contains([]string{"dd", "mkfs", "fdisk", "parted", "mount", "umount", "shutdown", "reboot", "systemctl", "service", "crontab", "at", "chown", "chmod", "chgrp", "setfacl", "ln", "kill", "pkill", "killall", "useradd", "passwd", "visudo", "apt", "apt-get", "dnf", "yum", "pacman", "brew"}, name), strings.HasPrefix(name, "mkfs."):
		return "it changes the machine, not the project"
	case slices.Contains([]string{"patch", "tee", "ed", "cpio", "sponge"}, name):
		return "what it does depends on what it is given to read"
	case slices.Contains([]string{"toolcrib", "claude", "codex", "gemini", "opencode"}, name):
		return "it decides what agents may do, or is one"
	}
	for _, a := range p.Args {
		if isRunner(name) && strings.Contains(a.Text, "=") || (name == "fd" || name == "fdfind") && strings.HasPrefix(strings.ToLower(a.Text), "-x") {
			return "one of its arguments may name another program"
		}
		if option := strings.ToLower(a.Text); strings.HasPrefix(option, "-") && slices.ContainsFunc([]string{"exec", "eval", "command", "cmd", "shell", "plugin", "hook", "pager", "editor", "loader", "require"}, func(s string) bool { return strings.Contains(option, s) }) {
			return "one of its options may run another program"
		}
	}
	if hasCommands(name) {
		return neverCommand(p, name)
	}
	return ""
}

// neverCommand is never for a program whose first words say what it does: for what
// sends things out, and for options that it takes from no rule with a *.
func neverCommand(p *shellguard.Program, name string) string {
	words := firstWords(p, 4)
	for i, word := range words[1:] {
		if strings.HasPrefix(word, "-") || name == "git" && i > 0 { // git stash push
			break
		}
		for part := range strings.FieldsFuncSeq(strings.ToLower(word), func(r rune) bool { return r == ':' || r == '-' || r == '_' || r == '.' }) {
			out := slices.Contains([]string{"push", "publish", "upload", "deploy", "release"}, part) && !strings.Contains(word, "/")
			if out || i == 0 && slices.Contains([]string{"exec", "dlx", "x", "config", "login", "submodule", "bisect", "generate", "run-script"}, part) {
				return "it may send things out, or change what others run (" + part + ")"
			}
		}
	}
	if len(words) < 2 || isRunner(name) && !strings.HasPrefix(words[1], "-") {
		return ""
	}
	const options = "its options do more than the command by itself: a rule for that is yours to write"
	if !bareWord.MatchString(words[1]) {
		if isOpenForm(words[:min(3, len(words))]) {
			return ""
		}
		return options
	}
	if r, err := shellguard.ParseRule(words[0] + " " + words[1] + " *"); err == nil && !r.Match(p) {
		return options
	}
	return ""
}

// isRunner: its words are targets that a file of the project says what to do for.
func isRunner(name string) bool {
	return slices.Contains([]string{"make", "gmake", "just", "task"}, name)
}

// firstWords are the program and the words behind it, as far as they are known.
func firstWords(p *shellguard.Program, n int) []string {
	words := []string{path.Base(p.Name)}
	for _, a := range p.Args {
		if len(words) == n || !a.Literal {
			break
		}
		words = append(words, a.Text)
	}
	return words
}

// isInterpreter: its arguments are code, or name a file with code.
func isInterpreter(name string) bool {
	if starter.IsShell(name) || strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") {
		return true
	}
	return slices.Contains([]string{
		"perl", "ruby", "irb", "node", "nodejs", "php", "lua", "luajit", "tclsh", "wish", "expect", "guile", "Rscript", "R", "julia", "osascript", "pwsh", "powershell", "ts-node", "tsx", "awk", "gawk", "mawk", "sed",
		"vi", "vim", "nvim", "ex", "ed", "emacs", "gdb", "lldb", "psql", "mysql", "sqlite3", "mongo", "redis-cli", "java", "groovy", "scala", "elixir", "swift", "m4", "ghci", "runghc",
	}, name)
}
