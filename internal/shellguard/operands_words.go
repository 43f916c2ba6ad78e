package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/pattern"
)

// expansion is what stands in a word for something else.
var expansion = pattern.Of(`\$\(…\)|\$\(\(…\)\)|\$\{?(\w+)(?::-[^/]*)?\}?`)

// addExpanded adds what a word with expansions may name: what it becomes if they are
// empty, or the directory where the program runs, as $PWD is.
func (o *operands) addExpanded(a Arg, dirs []string, as Operand) {
	as.Guess = true
	for _, t := range a.texts() {
		if rest, ok := strings.CutPrefix(t, "~"); ok {
			o.addHome(rest, dirs, as)
			continue
		}
		at := expansion.Regexp().FindAllStringSubmatchIndex(t, -1)
		if len(at) > maxVaried {
			o.addAnywhere(as)
			continue
		}
		plain, tails := "", []string{t}
		if len(at) == 0 && !strings.Contains(t, "…") {
			continue
		}
		if len(at) > 0 {
			last := at[len(at)-1]
			plain, tails = expansion.Regexp().ReplaceAllString(t[:last[0]], ""), []string{t[last[1]:]}
			if last[2] >= 0 { // $Xdeploy/x may be ${X}deploy/x
				for i := last[2] + 1; i < last[3] && len(tails) < maxValues; i++ {
					tails = append(tails, t[i:])
				}
			}
		}
		for _, tail := range tails {
			for _, text := range pathsIn(plain + tail) {
				for _, d := range dirs {
					if !strings.HasPrefix(tail, ":") { // $PWD:/src
						o.add(d, strings.TrimLeft(text, "/"), isPattern(text), as)
					}
					o.add(d, text, isPattern(text), as)
				}
			}
		}
	}
}

// addHome adds what a word that begins with ~ may name.
func (o *operands) addHome(rest string, dirs []string, as Operand) {
	switch {
	case rest == "" || rest[0] == '/':
		o.add(o.homeDir, "."+rest, isPattern(rest), as)
	case rest[0] == '+':
		for _, d := range dirs {
			o.add(d, "."+rest[1:], isPattern(rest), as)
		}
	case strings.IndexByte("-0123456789", rest[0]) >= 0: // a directory that was left
		o.addAnywhere(as)
	}
}

// perhapsIn are the directories that those may be of which the line does not say
// where they are.
func (o *operands) perhapsIn(dirs []string) []string {
	switch {
	case slices.Contains(dirs, unknownDir):
		return append(slices.Clone(o.trail.ways), o.base)
	case slices.Contains(dirs, printedDir):
		return []string{o.base}
	}
	return nil
}

// isLost: one of them may be anywhere.
func (o *operands) isLost(dirs []string) bool {
	return o.trail.lost && slices.Contains(dirs, unknownDir)
}

// addPattern adds a pattern that a program looks for by itself, if a part of it is a
// name.
func (o *operands) addPattern(dir, text string, as Operand) {
	if !isPattern(text) || len(text) > 300 || strings.ContainsAny(text, "\n\t ") || len(o.found) >= maxOperands {
		return
	}
	if strings.HasPrefix(text, "(") { // :(glob)a/**
		_, text, _ = strings.Cut(text, ")")
	}
	full := (Path{Dir: dir, Text: text}).Full()
	key := operandKey{full: full, mayWrite: true, guess: true, glob: true}
	if pattern := foldedPattern(full); !o.seen[key] && len(pattern) > 0 {
		o.seen[key] = true
		as.Guess, as.Path, as.pattern = true, "", pattern
		o.found = append(o.found, as)
	}
}

// addWords adds the paths among the words that stand in one word: the commands of
// sqlite3, psql and editors. All: also those that look like any other word.
func (o *operands) addWords(text string, dirs []string, all bool) {
	if !all && !strings.ContainsAny(text, " \t\n") {
		return
	}
	before := ""
	fields := strings.FieldsFunc(strings.NewReplacer(`\n`, " ", `\t`, " ").Replace(text), func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;|&<>(),", r) })
	for i, word := range fields {
		if i >= maxHistory {
			o.addAnywhere(Operand{MayWrite: true})
			return
		}
		if all || strings.Contains(word, "/") || strings.HasSuffix(before, "cd") {
			for _, d := range dirs {
				o.add(d, word, isPattern(word), Operand{MayWrite: true, Guess: true})
			}
		}
		before = word
	}
}

// addInputPaths adds the paths in the text that a program is given to read, where that
// may be commands: those of an editor, or the names in a patch.
func (o *operands) addInputPaths(p *Program, name string, dirs []string) {
	sub, _ := gitSubCommand(p.Args)
	patches := name == "patch" || name == "git" && (sub == "apply" || sub == "am")
	if p.input == nil || !p.mayWrite(name) || !patches && (writesOperands(name) || !takesSentences(name)) {
		return
	}
	for _, text := range p.input.texts() {
		o.addWords(text, dirs, false)
		if !patches {
			continue
		}
		for line := range strings.Lines(text) { // --- a/src/x
			if !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "rename ") && !strings.HasPrefix(line, "diff ") {
				continue
			}
			for word := range strings.FieldsSeq(line) {
				if _, rest, ok := strings.Cut(word, "/"); ok {
					o.addWords(" "+rest, dirs, true)
				}
			}
		}
	}
}

// addOwnWords adds what the options of a wrapper name: strace -o x true.
func (o *operands) addOwnWords(p *Program, name string, dirs []string) {
	if !isWrapper(name) || name == "ssh" || name == "xargs" {
		return
	}
	as := Operand{MayWrite: true, Guess: true}
	for i, a := range p.Args {
		option := strings.HasPrefix(a.Text, "-") || isAssignment(a.Text)
		if a.Text == "--" || !option && (i == 0 || !strings.HasPrefix(p.Args[i-1].Text, "-")) {
			return
		}
		if !strings.Contains(a.Text, "/") {
			continue
		}
		if !a.Literal {
			o.addExpanded(a, dirs, as)
		}
		for _, text := range pathsIn(a.Text) {
			for _, d := range dirs {
				o.add(d, text, isPattern(text), as)
			}
		}
	}
}

// fedByPrograms: a program that may write gets operands which another one prints.
func (l *Line) fedByPrograms() bool {
	for i := range l.Programs {
		p := &l.Programs[i]
		if p.Builtin || !p.mayWrite(programName(p.Name)) {
			continue
		}
		if fills(p.Via) || slices.ContainsFunc(p.Args, func(a Arg) bool { return !a.Literal && (a.open > settled || strings.Contains(a.Text, unread)) }) {
			return true
		}
	}
	return slices.ContainsFunc(l.Redirects, func(r Redirect) bool {
		return strings.Contains(r.Op, ">") && !r.target.Literal && r.target.open > settled
	})
}

// pathsOf is the path that a word means, or those that a pattern means now. Parts:
// the pattern may be what a variable holds, and the rest stand behind it.
func (o *operands) pathsOf(dir, text string, glob, parts bool) []string {
	full := (Path{Dir: dir, Text: text}).Full()
	if !glob || o.glob == nil {
		return []string{full}
	}
	out := []string{full}
	look := func(pattern, rest string) {
		if starred(pattern) > 2 {
			return
		}
		if files, err := o.glob(pattern); err == nil && len(files) <= maxMatches {
			if !o.hidden && !parts {
				files = withoutHidden(full, files)
			}
			for _, f := range files {
				out = append(out, f+rest)
			}
		}
	}
	pattern := plainPattern(strings.TrimRight(full, "/"))
	look(pattern, "")
	if at := strings.LastIndexAny(pattern, "*?"); parts && at >= 0 {
		if end := strings.IndexByte(pattern[at:], '/'); end >= 0 {
			look(pattern[:at+end], pattern[at+end:])
		}
	}
	return out
}

func isPattern(text string) bool { return strings.ContainsAny(text, "*?[…") }

// brackets is what a shell takes for one character of several.
var brackets = pattern.Of(`\[[!^]?\]?(\[:\w+:\]|[^]/])*\]`)

// plainPattern writes a pattern of a shell with nothing but * and ?, so that it
// means at least as much.
func plainPattern(text string) string {
	return strings.NewReplacer("…", "*", "[", "?").Replace(brackets.Regexp().ReplaceAllString(text, "?"))
}

// foldedPattern is a pattern cut into elements; nil if it is none.
func foldedPattern(full string) []string {
	elems := pathglob.Elements(path.Clean(plainPattern(full)))
	found := starred(full) > 2 // too much to be looked for: then a * may be any name
	for i, e := range elems {
		found = found || strings.Trim(e, "*") != "" && strings.ContainsAny(e, "*?")
		if elems[i] = pathglob.Fold(e); starred(full) > 2 && e == "*" {
			elems[i] = "?*"
		}
	}
	if !found {
		return nil
	}
	return elems
}

// isHandle: a path through a place of some process, which may be any.
func isHandle(full string) bool {
	t := path.Clean(full)
	for _, top := range []string{"/cwd/", "/root/", "/fd/"} {
		if strings.HasPrefix(t, "/proc/") && strings.Contains(t, top) {
			_, rest, _ := strings.Cut(t, top)
			return top != "/fd/" || strings.Contains(rest, "/")
		}
	}
	return strings.HasPrefix(t, "/dev/fd/") && strings.Count(t, "/") > 3
}

// pathsIn are the parts of a word that could be a path: --file=x, -fx, a=@x.
func pathsIn(word string) []string {
	out := []string{word}
	if rest, ok := strings.CutPrefix(word, "-"); ok && len(rest) > 1 && rest[0] != '-' {
		out = append(out, rest[1:])
	}
	for _, sign := range []string{"=", "@", ":", ","} {
		for part := range strings.SplitSeq(word, sign) {
			out = append(out, strings.TrimPrefix(part, "@"))
		}
	}
	if strings.ContainsAny(word, ",{") { // type=bind,source=x,target=y
		out = append(out, strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("=@:,{}", r) })...)
	}
	return out
}
