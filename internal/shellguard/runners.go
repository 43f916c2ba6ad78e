package shellguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// Programs that start others in an environment of theirs, by words or by a text.
// Which of their options take a word nobody can list, so that every word which is
// a program of the floor may be the one that is started.

// startsBehind: what follows one of its words for that is a program. Always: it
// has no words of its own that look like one.
func startsBehind(name string) (always, ok bool) {
	switch name {
	case "npx", "pnpx", "bunx", "uvx", "tmux", "screen", "flatpak-spawn", "launchctl", "cross-env", "dotenv", "concurrently", "nodemon", "chokidar", "hyperfine":
		return true, true
	case "npm", "pnpm", "yarn", "bun", "deno", "poetry", "uv", "pipx", "bundle", "conda", "mamba", "micromamba", "pixi", "pipenv", "rye", "hatch", "pdm", "nix", "guix", "mise", "asdf", "volta", "vagrant", "rbenv", "pyenv",
		"cargo", "go", "just", "task", "flatpak", "snap", "heroku", "fly", "flyctl", "lxc", "incus", "lima", "limactl", "multipass", "distrobox", "toolbox", "op", "doppler", "infisical", "tox", "nox", "docker-compose", "gcloud", "salt", "sem", "devbox", "turbo", "nx", "lerna", "rush":
		return false, true
	}
	return false, false
}

func startsNext(word string) bool {
	return isOneOf(word, "-- exec x run dlx shell ssh develop task tool enter console -c -C --command --run --exec -x cmd.run watch -s") || strings.HasPrefix(word, "--command=")
}

// startedByRunner walks what such a program may start.
func (w *walker) startedByRunner(p *Program, name string, in scope) {
	always, ok := startsBehind(name)
	started, found := always, 0
	for i, a := range p.Args {
		t := a.texts()[0]
		switch {
		case ok && started && floorProgram(packageName(t)) && found < 8:
			found++
			w.possibleWalker().program(append(asArgs([]string{packageName(t)}), p.Args[i+1:]...), in)
		case strings.ContainsAny(t, " \t") && (ok || p.runsTexts(name, i)):
			first, _, _ := strings.Cut(strings.TrimLeft(t, " \t|!"), " ")
			if floorProgram(path.Base(first)) {
				w.maybeScript(strings.TrimLeft(t, " \t|!"), in)
			}
		}
		started = started || startsNext(t)
		if program, is := strings.CutPrefix(t, "--command="); is && ok && !strings.Contains(program, " ") {
			w.possibleWalker().program(append(asArgs([]string{program}), p.Args[i+1:]...), in)
		}
	}
}

// packageName is the program in a package that a runner gets: rimraf of rimraf@5
// and npm:rimraf.
func packageName(t string) string {
	t = path.Base(strings.TrimPrefix(t, "npm:"))
	if at := strings.IndexByte(t, '@'); at > 0 {
		t = t[:at]
	}
	return t
}

// runsTexts: a program that nobody knows may run the text at i. Those that are
// about texts for people do not; those with many commands only behind an option
// for it.
func (p *Program) runsTexts(name string, i int) bool {
	if p.Builtin || p.Class != Unknown && p.Class != Runs || p.known {
		return false
	}
	switch name {
	case "git", "hub", "gh", "glab", "tea", "hg", "svn", "jj", "bd", "br", "jira", "notify-send", "say", "logger", "wall", "mail", "mailx", "claude", "codex", "gemini", "aider", "llm", "ollama", "opencode", "curl", "wget", "http", "xh", "grep", "rg", "ag", "ack", "code", "open", "xdg-open", "man", "tldr", "less", "figlet", "cowsay", "toilet":
		return false
	}
	if i > 0 && isMessageOption(p.Args[i-1].Text) {
		return false
	}
	if hasSubcommands(name) {
		return i > 0 && startsNext(p.Args[i-1].Text)
	}
	return true
}

// isMessageOption: what follows is for people.
func isMessageOption(option string) bool {
	return isOneOf(option, "-m --message --msg --title --body --description --comment --reason --text --prompt --note --subject --query --grep --pattern")
}

// fromAddress: the program runs code that it gets from an address itself.
func (p *Program) fromAddress(name string) bool {
	rest := stepOver(p.Args, "pcnC")
	for len(rest) > 0 && isOneOf(rest[0].Text, "run x exec serve test tool") {
		rest = stepOver(rest[1:], "pcnC")
	}
	if len(rest) == 0 || !isOneOf(name, "deno bun uv uvx pipx npx bunx pnpx") {
		return false
	}
	t := strings.ToLower(rest[0].texts()[0])
	return strings.HasPrefix(t, "http://") || strings.HasPrefix(t, "https://")
}

// inContainer walks what a container is told to run with the names that the files of
// this machine have in it turned back into their own.
func (w *walker) inContainer(p *Program, u unwrapped, in scope) {
	for _, m := range mounts(p.Args) {
		host, to, _ := strings.Cut(m, ":")
		to, _, _ = strings.Cut(to, ":")
		to = strings.TrimRight(to, "/")
		if !path.IsAbs(to) || !w.opt.Homes.isVital(host, in.dirs) {
			continue
		}
		inside := regexp.MustCompile(regexp.QuoteMeta(to) + `($|[/\s;&|"'*])`)
		place := host
		if place == "/" {
			place = ""
		}
		back := func(t string) string {
			return inside.ReplaceAllStringFunc(t, func(s string) string {
				if s == to && place == "" {
					return "/"
				}
				return place + strings.TrimPrefix(s, to)
			})
		}
		for _, words := range u.inner {
			out := make([]Arg, len(words))
			for i, a := range words {
				a.Text, a.values = back(a.Text), nil
				out[i] = a
			}
			here := in
			here.dirs = nil
			for _, d := range in.dirs {
				here.dirs = append(here.dirs, path.Clean("/"+back(d)))
			}
			w.possibleWalker().program(out, here)
		}
	}
}

// mounts are the places of this machine that a container is given, as host:place.
func mounts(args []Arg) []string {
	var out []string
	for i, a := range args {
		t, before := a.texts()[0], wordBefore(args, i)
		switch {
		case before == "-v" || before == "--volume":
			out = append(out, t)
		case strings.HasPrefix(t, "--volume="):
			out = append(out, t[len("--volume="):])
		case strings.HasPrefix(t, "-v") && strings.Contains(t, ":"):
			out = append(out, strings.TrimPrefix(t[2:], "="))
		case before == "--mount" || strings.HasPrefix(t, "--mount="):
			from, to := "", ""
			for part := range strings.SplitSeq(strings.TrimPrefix(t, "--mount="), ",") {
				switch key, value, _ := strings.Cut(part, "="); key {
				case "source", "src":
					from = value
				case "target", "dst", "destination":
					to = value
				}
			}
			out = append(out, from+":"+to)
		}
	}
	return slices.Compact(out)
}

// definitions are the files in which a runner finds what to do.
func definitions(name string, args []Arg) []string {
	var out []string
	for i, a := range args {
		t := a.texts()[0]
		if isOneOf(wordBefore(args, i), "-f --file --makefile --justfile -t --taskfile --rakefile") {
			out = append(out, t)
		}
		if key, value, ok := strings.Cut(t, "="); ok && (abbreviated(key, "--file") || abbreviated(key, "--makefile") || key == "--justfile" || key == "--taskfile") {
			out = append(out, value)
		}
		if strings.HasPrefix(t, "-f") && len(t) > 2 {
			out = append(out, t[2:])
		}
	}
	switch name {
	case "make", "gmake":
		out = append(out, "Makefile", "makefile", "GNUmakefile")
	case "just":
		out = append(out, "justfile", "Justfile", ".justfile")
	case "task", "go-task":
		out = append(out, "Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml")
	case "rake":
		out = append(out, "Rakefile", "rakefile")
	case "npm", "yarn", "pnpm", "bun":
		out = append(out, "package.json")
	case "at":
	default:
		return nil
	}
	return out
}

// makeShell finds $(shell …) in what make is given.
var makeShell = pattern.Of(`\$[({]shell\s+([^)}]*)`)
