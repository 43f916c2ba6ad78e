package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// What a line starts without showing it plainly: the name of a program as a word
// of something that starts others, as a file of the system that is copied or set
// as an option, or in the code of another language that starts programs. A rule
// that takes a program away is not sure there, so that a person is asked.

// codeStarts: code of other languages that starts programs.
var codeStarts = pattern.Of("(?i)system|exec|spawn|popen|subprocess|child_process|\\bfork|\\bshell|`|\\bqx|open3|\\bpty|command(::new|\\()|process(builder|\\.run|\\.start)|getoutput|startfile|getline|\\|\\s*[\"']|[\"']\\s*\\||\\b[!%]x")

// mention is words in a row of which each may be a program, and where they count
// from.
type mention struct {
	words, dirs []string
}

// mentions lists words in a row of which each may be a program, with what
// follows as its arguments. Not all: there are too many to list.
func (l *Line) mentions() (rows []mention, all bool) {
	var out []mention
	count := 0
	for _, line := range []*Line{l, l.possible} {
		if line == nil {
			continue
		}
		for i := range line.Programs {
			p := &line.Programs[i]
			if words := p.mentions(l.made, line == l); len(words) > 0 {
				out = append(out, mention{words, p.Dirs})
			}
			if count += len(p.Args); count > maxLine {
				return out, false
			}
		}
		if slices.ContainsFunc(line.Programs, func(p Program) bool { return line == l && p.takesText(programKey(p.Name)) }) {
			out = append(out, mention{words: rawWords(l.Text)})
		}
		for _, t := range line.texts {
			if codeStarts.MatchString(t) {
				out = append(out, mention{words: strings.FieldsFunc(strings.NewReplacer(`\n`, " ", `\t`, " ").Replace(t), notInName)})
			}
		}
	}
	return out, true
}

// hidesSome: it runs something that does not stand in it.
func (l *Line) hidesSome() bool { return l.hides || l.possible != nil && l.possible.hides }

// mentions are the words of a program that may be programs. All: the line runs
// something that it named itself. Plain: the program stands in the line.
func (p *Program) mentions(all, plain bool) []string {
	name := programName(p.Name)
	if p.Class == ReadOnly && !all {
		return nil
	}
	all = all || plain && p.startsWords(name)
	always, behind := startsBehind(name)
	behind = behind && plain && !all
	var out []string
	for i, a := range p.Args {
		if behind {
			all = all || always && i > 0 || i > 0 && programNext(name, p.Args[i-1].Text)
		}
		for _, t := range a.texts() {
			if p.Class == Runs && strings.ContainsAny(t, " \t\n'\"`(") {
				continue // code, see Line.texts
			}
			for part := range strings.FieldsFuncSeq(t, func(r rune) bool { return strings.ContainsRune("=,: \t\n'\"`(){}[];|&<>", r) }) {
				if dir, base := path.Split(part); all && dir == "" || isSystemDir(dir) {
					out = append(out, base)
				} else if len(out) > 0 || all && strings.Contains(base, ".") {
					out = append(out, part)
				}
			}
		}
	}
	return out
}

func isSystemDir(dir string) bool {
	return dir != "" && slices.Contains(SystemDirs(), strings.TrimSuffix(path.Clean(dir), "/"))
}

// startsWords: its words may be a program that it starts. Programs with
// subcommands have words such as rm and exec of their own.
func (p *Program) startsWords(name string) bool {
	if p.Class != Unknown && p.Class != Runs || hasSubcommands(name) || worksOnCode(name) || p.Builtin && name != "exec" && name != "eval" && name != "." && name != "source" {
		return false
	}
	switch name {
	case "git", "hub", "docker", "podman", "nerdctl", "docker-compose", "kubectl", "npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "conda", "mamba", "nix", "poetry", "uv", "pipx", "bundle", "man", "less", "more", "tldr", "info", "tmux", "screen", "make", "gmake", "ninja", "just", "task", "rake", "pytest", "trap", "launchctl", "service":
		return false // but see programNext
	}
	return true
}

// isPatternOf: a pattern that may become the program.
func isPatternOf(word, program string) bool {
	if !strings.ContainsAny(word, "*?[") {
		return false
	}
	ok, err := path.Match(path.Base(word), program)
	return ok && err == nil && !anyName(path.Base(word))
}

// programNext: behind this word of a program with many commands stands another
// program. What npm run and cargo run start is the project's own.
func programNext(name, word string) bool {
	switch name {
	case "npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "task", "nx", "turbo", "just", "dotnet":
		if word == "run" || word == "task" || word == "tool" || word == "--" || name == "cargo" && word == "watch" {
			return false
		}
	}
	return startsNext(word)
}

// worksOnCode: programs that look at scripts and do not run them.
func worksOnCode(name string) bool {
	return isOneOf(name, "shellcheck shfmt prettier eslint black ruff flake8 pylint mypy isort bat tokei cloc")
}

// readsOther: a word of this name may be another program than it says, by what
// follows.
func readsOther(name string) bool {
	n := UsualName(name)
	return strings.HasPrefix(name, "git-") || n == "uv" || n == "source" || isShell(name) || readsCode(n)
}

// ways lists how the words from i on may be read as a program.
func (m *mention) ways(i int) []commandReading {
	word := m.words[i]
	out := readings(word, asArgs(m.words[i+1:min(len(m.words), i+1+maxReadings)]), m.from())
	if dir, _ := path.Split(word); dir != "" && !isSystemDir(dir) {
		out[0].script, out[0].dirs = word, m.from()
	}
	return out
}

func (m *mention) from() []string {
	if len(m.dirs) == 0 {
		return []string{"/"}
	}
	return m.dirs
}

// mentioned says that the rule may mean something that the line only names.
func (c *Pattern) mentioned(rows []mention) bool {
	specs := append([]*Pattern{c}, c.others...)
	for r := range rows {
		for i, word := range rows[r].words {
			name := programName(word)
			alike, other := UsualName(name), readsOther(name)
			var ways []commandReading
			for _, o := range specs {
				pattern := isPatternOf(word, o.words[0])
				if !other && !pattern && !wildWord(o.words[0], name) && !wildWord(o.words[0], alike) {
					continue
				}
				if ways == nil {
					ways = rows[r].ways(i)
				}
				if pattern && o.fits(ways[0].args, false) || slices.ContainsFunc(ways, func(w commandReading) bool { return w.matches(o) && o.fits(w.args, false) }) {
					return true
				}
			}
		}
	}
	return false
}
