package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// What a line starts without showing it plainly: the name of a program as a word
// of something that starts others, as a file of the system that is copied or set
// as an option, or in the code of another language that starts programs. A rule
// that takes a program away is not sure there, so that a person is asked.

// codeStarts: code of other languages that starts programs.
var codeStarts = regexp.MustCompile("(?i)system|exec|spawn|popen|subprocess|child_process|\\bfork|\\bshell|`|\\bqx|open3|\\bpty|command(::new|\\()|process(builder|\\.run|\\.start)|getoutput|startfile|getline|\\|\\s*[\"']|[\"']\\s*\\||\\b[!%]x")

// mentions lists words in a row of which each may be a program, with what
// follows as its arguments. Not all: there are too many to list.
func (l *Line) mentions() (rows [][]string, all bool) {
	var out [][]string
	count := 0
	for _, line := range []*Line{l, l.possible} {
		if line == nil {
			continue
		}
		for i := range line.Programs {
			p := &line.Programs[i]
			if words := p.mentions(l.made, line == l); len(words) > 0 {
				out = append(out, words)
			}
			if count += len(p.Args); count > maxLine {
				return out, false
			}
		}
		if slices.ContainsFunc(line.Programs, func(p Program) bool { return line == l && p.takesText(programKey(p.Name)) }) {
			out = append(out, rawWords(l.Text))
		}
		for _, t := range line.texts {
			if codeStarts.MatchString(t) {
				out = append(out, strings.FieldsFunc(strings.NewReplacer(`\n`, " ", `\t`, " ").Replace(t), notInName))
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
	var out []string
	for _, a := range p.Args {
		for _, t := range a.texts() {
			if p.Class == Runs && strings.ContainsAny(t, " \t\n'\"`(") {
				continue // code, see Line.texts
			}
			for part := range strings.FieldsFuncSeq(t, func(r rune) bool { return strings.ContainsRune("=,: \t\n'\"`(){}[];|&<>", r) }) {
				if dir, base := path.Split(part); all && dir == "" || isSystemDir(dir) {
					out = append(out, base)
				} else if len(out) > 0 {
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
	if p.Class != Unknown && p.Class != Runs || hasSubcommands(name) || p.Builtin && name != "exec" && name != "eval" && name != "." && name != "source" {
		return false
	}
	switch name {
	case "git", "hub", "docker", "podman", "nerdctl", "docker-compose", "kubectl", "npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "conda", "mamba", "nix", "poetry", "uv", "pipx", "bundle", "man", "less", "more", "tldr", "info", "tmux", "screen", "make", "gmake", "ninja", "just", "task", "rake", "pytest", "trap", "launchctl", "service":
		return false
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

// mentioned says that the rule may mean something that the line only names.
func (c *commandSpec) mentioned(rows [][]string) bool {
	for _, row := range rows {
		for i, word := range row {
			if !wildWord(c.words[0], programName(word)) && !isPatternOf(word, c.words[0]) {
				continue
			}
			if c.fits(asArgs(row[i+1:min(len(row), i+1+maxReadings)]), false) {
				return true
			}
		}
	}
	return false
}
