package shellguard

import (
	"io/fs"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/text"

	"mvdan.cc/sh/v3/syntax"
)

// Options is what Analyze needs to know of the machine. With the zero
// value no program resolves, so nothing but shell builtins is read-only.
type Options struct {
	// Dir is the directory the line runs in, absolute.
	Dir string
	// Look finds the binary of a bare program name, as the shell will find it.
	// Nil finds none.
	Look func(name string) (path string, err error)
	// EvalSymlinks resolves links; nil: no binary is trusted.
	EvalSymlinks func(path string) (string, error)
	// Stat looks at a file; nil: no binary is trusted.
	Stat func(path string) (fs.FileInfo, error)
	// Lstat looks at a file or a link; nil: git asks.
	Lstat func(path string) (fs.FileInfo, error)
	// Trusted are the directories whose programs are what their names say; nil
	// means SystemDirs.
	Trusted []string
	// Trees are further directories that the links in those may lead into: the
	// installations that a person's tool chains lie in.
	Trees []string
	// Project says why a program that agents can write is not the one that a person
	// has looked at; nil: it is. No function: none is. See vouch.go.
	Project func(path string) error
	// Writable are the directories that the agent can write to: a program in
	// one of them is not trusted. Nil means Dir.
	Writable []string
	// Zsh: the shell that runs the line may be zsh, and not only sh or bash.
	Zsh bool
	// UserShell: the shell has the options of its user, which may let * match hidden files.
	UserShell bool
	// CDPath: a variable of the environment has cd look elsewhere for plain names.
	CDPath bool
	// Homes are the home directories of this machine's accounts, wherever they
	// are: the floor asks before one is wiped. Those in /home need not be here.
	Homes homes
}

// The bounds on what is parsed at all. The parser is recursive: nesting costs
// stack, so the characters and words that nest are counted first.
const (
	maxLine     = 64 << 10
	maxNesting  = 1000
	maxSplits   = 4000
	maxPrograms = 200
	maxWrapping = 8    // wrappers and shells within each other
	maxVisits   = 4000 // programs looked at, those that are only possible included
)

// Analyze takes a command line apart. It never fails: what cannot be
// understood is said in Line.Unknown and in the programs' classes.
func Analyze(text string, opt Options) *Line { return analyze(text, opt, &meter{left: maxWork}) }

func analyze(text string, opt Options, work *meter) *Line {
	l := &Line{Text: text}
	if runtime.GOOS == "windows" {
		l.unknown("command lines are only understood for sh and bash")
	}
	if len(text) > maxLine {
		l.unknown("the line is longer than %d bytes", maxLine)
		return l
	}
	checkText(l, text)
	if nesting, splits := nestingOf(text); nesting > maxNesting || splits > maxSplits {
		l.unknown("the line nests too deeply to be judged")
		return l
	}
	budget := maxVisits
	w := walker{opt: &opt, line: l, budget: &budget, work: work, written: map[string]Arg{}, fetched: map[string]bool{}, unclear: map[string]bool{}, names: &lineNames{words: map[string]bool{}}, bodies: map[string]*syntax.Stmt{}}
	w.saved = &savedState{files: map[string]bool{}}
	w.trail = &l.trail
	w.script(text, scope{dirs: []string{opt.Dir}})
	w.judgeSavedRuns()
	l.unvouchChanged()
	if len(l.Programs) == 0 && len(l.Redirects) == 0 && len(l.Unknown) == 0 {
		l.unknown("there is no program in it")
	}
	if opt.Zsh {
		l.distrustInZsh()
	}
	if len(l.floor) == 0 && runtime.GOOS != "windows" && !l.ReadOnly() {
		l.plain = readPlain(text, &opt, work)
		if opt.Zsh && l.plain != nil {
			l.plain.distrustInZsh()
		}
	}
	return l
}

// script parses a piece of shell code and walks it.
func (w *walker) script(text string, sc scope) dirsAfter {
	sc.child = false
	if !w.work.spend(len(text)) {
		w.tooMuch()
		return sameDirs(sc)
	}
	f, text, err := parseAsShells(text)
	if err != nil {
		if w.guess {
			w.piecewise(text, sc)
			return sameDirs(sc)
		}
		w.line.unknown("it cannot be parsed: %s", clip(err.Error()))
		w.line.floor = append(w.line.floor, "it cannot be parsed, so nobody knows what it would do")
		return sameDirs(sc)
	}
	w.remember(f)
	if why := readOtherwise(text, f); why != "" {
		w.line.unknown("%s", why)
		w.line.hides = true
		w.line.floor = append(w.line.floor, why+", so nobody knows what it would do")
	}
	if w.opt.Zsh && !w.guess {
		if why := readInZsh(f); why != "" {
			w.line.unknown("%s", why)
			w.line.floor = append(w.line.floor, why+", and the client's shell may be zsh")
		}
	}
	if w.opt.ownOptions() && !w.guess {
		if why := w.line.readWithOptions(f); why != "" {
			w.line.unknown("%s", why)
		}
	}
	out := w.stmts(f.Stmts, sc)
	if w.guess || len(w.line.floor) > 0 {
		return out
	}
	// A line that is not understood for another reason may be read in two ways
	// all the same.
	switch read := secondReading(text, f); {
	case read == readOther && len(w.line.Unknown) == 0 || read == readOther && strings.Contains(text, "<<"):
		w.line.unknown("it can be read in two ways")
		w.line.floor = append(w.line.floor, "it can be read in two ways, so nobody knows what it would do")
	case read == readUnsure && len(w.line.Unknown) == 0:
		w.line.unknown("it can be read in two ways")
	}
	return out
}

// piecewise walks the lines of a text that cannot be parsed as one: a shell runs
// what stands before an error, and takes a here-document without an end.
func (w *walker) piecewise(text string, sc scope) {
	lines := strings.SplitN(text, "\n", maxPrograms)
	if len(lines) == 1 {
		return
	}
	for _, line := range lines {
		if f, err := parse(line); err == nil {
			w.remember(f)
			w.stmts(f.Stmts, sc)
		}
	}
}

// parse reads a line as bash does. The walk refuses every construct that a
// plain sh does not have, and the second reading is by the rules of POSIX.
func parse(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// checkText refuses bytes that shells, terminals and people read differently.
func checkText(l *Line, given string) {
	if IsPlain(given) {
		return
	}
	if !utf8.ValidString(given) || strings.ContainsRune(given, utf8.RuneError) {
		l.unknown("it is not valid UTF-8")
		return
	}
	for _, r := range given {
		switch {
		case r == '\n' || r == '\t':
		case r < ' ' || r == 0x7f:
			l.unknown("it has the control character %U", r)
		case text.Invisible(r) || text.Blank(r) || unicode.Is(unicode.Co, r):
			l.unknown("it has the invisible character %U", r)
		}
	}
}

// IsPlain reports whether a text has nothing in it but ASCII that shows.
func IsPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// nestingOf counts what can make the parser go deeper (nesting) and what makes
// long chains (splits). It reads no quotes: counting too much only asks.
func nestingOf(text string) (nesting, splits int) {
	word, unary := 0, 0
	for i := range len(text) + 1 {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		switch c {
		case '(', '[', '{', '`', '$', '"':
			nesting++
		case '|', '&', ';', '<', '>', '\n':
			splits++
		case '-', '!', '~', '+', '?':
			// A row of unary operators nests in arithmetic.
			if unary++; unary > 64 {
				nesting++
			}
			continue
		}
		if c > ' ' {
			unary = 0
		}
		if c >= 'a' && c <= 'z' {
			word++
			continue
		}
		if word > 0 {
			switch text[i-word : i] {
			case "if", "while", "until", "for", "case", "select", "function", "time", "coproc", "elif", "else":
				nesting++
			}
		}
		word = 0
	}
	return nesting, splits
}
