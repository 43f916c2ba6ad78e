package shellguard

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// refusesGit: words of git that mean more than they look like. What counts is
// which operand a word is, not where it stands: an option may come first.
func refusesGit(words []string, rest []Arg) string {
	if len(words) == 0 {
		return ""
	}
	for _, a := range rest {
		if strings.Contains(a.Text, "::") || gitStarts(words[0]) {
			return Quote(a.Text) + " may be a program"
		}
	}
	operands, every := gitOperands(words, rest)
	if len(operands) == 0 {
		return ""
	}
	switch words[0] {
	case "stash":
		if t := operands[0].Text; len(words) == 1 && (t == "drop" || t == "clear") {
			return Quote(t) + " removes what cannot be got back"
		}
	case "push", "fetch", "pull":
		if !every {
			if namesRemote(words[1:]) {
				return ""
			}
			operands = operands[:1]
		}
		for _, a := range operands {
			if a.Glob || strings.ContainsAny(a.Text, `/:@\`) {
				return Quote(a.Text) + " is not the name of a remote"
			}
		}
	}
	return ""
}

// gitOperands are the operands behind the words of a rule, and whether every one
// of them is a remote. What the table does not know is refused by the table.
func gitOperands(words []string, rest []Arg) (operands []Arg, every bool) {
	f, _ := takenTable().of("git " + words[0])
	u, _, _ := f.read(rest, false)
	return u.operands, slices.Contains(words, "--multiple") || u.has("multiple")
}

// namesRemote: the words of a rule behind push, fetch or pull say to where.
func namesRemote(words []string) bool {
	for i, w := range words {
		if strings.HasPrefix(w, "-") || i > 0 && gitTakesValue(words[i-1]) {
			continue
		}
		return true
	}
	return false
}

// gitTakesValue: options of push, fetch and pull whose value is the next word.
func gitTakesValue(option string) bool {
	return isOneOf(option, "-o -j -s -X") || strings.HasPrefix(option, "--") && !strings.Contains(option, "=") && slices.ContainsFunc(strings.Fields("--push-option --server-option --receive-pack --exec --repo --upload-pack --depth --deepen --shallow-since --shallow-exclude --refmap --negotiation-tip --filter --jobs --strategy --strategy-option --cleanup"),
		func(o string) bool { return abbreviated(option, o) })
}

// pushedTo are the directories that git push may write to: a remote that the
// settings do not name is a directory, and the hooks of a repository there run.
func (p *Program) pushedTo(opt *Options) []string {
	if path.Base(p.Name) != "git" || len(p.Args) == 0 || p.Args[0].Text != "push" {
		return nil
	}
	operands, _ := gitOperands([]string{"push"}, p.Args[1:])
	if len(operands) == 0 {
		return nil
	}
	var out []string
	for _, d := range p.Dirs {
		full := Path{Dir: d, Text: operands[0].Text}.Full()
		for _, at := range []string{full, full + ".git"} {
			if opt.Stat != nil {
				if info, err := opt.Stat(at); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
					continue
				}
			}
			out = append(out, at)
		}
	}
	return out
}
