package shellguard

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// Class is what a program does as far as its name and arguments tell. The zero
// value is the strictest: nobody knows.
type Class uint8

// The classes.
const (
	Unknown  Class = iota // not understood, so it may do anything
	ReadOnly              // looks, and changes nothing
	Writes                // changes files or settings
	Destroys              // removes or overwrites what cannot be got back
	Network               // talks to other machines
	Runs                  // runs code that is not in the line: a script, a build, another user's program
)

func (c Class) String() string {
	if c > Runs {
		c = Unknown
	}
	return [...]string{"unknown", "reads only", "writes", "destroys", "network", "runs code"}[c]
}

// Arg is one word of a command after quoting was taken off.
type Arg struct {
	Text string
	// Literal: the program gets exactly Text. Not set for patterns and for
	// words with an expansion, whose Text then is close to what was written.
	Literal bool
	// Glob: Text is a file name pattern, and nothing else about it is dynamic.
	Glob bool

	fixed int // of a pattern: how many bytes stand before its first wildcard

	computed laterWord // of a word of the plain reading that is decided while the line runs
	head     string    // how such a word begins
	many     bool      // it may be several such words
	one      bool      // a pattern that stands for one of its files, in a variable
	sample   bool      // there are digits in it that stand for any others
	sure     int32     // how many bytes of it stand before them

	values []string // what a word that is not literal may become
	open   openness // how much of it is decided while the line runs
	split  bool     // it may become several words
	from   string   // the one program that prints it, where that is a tame one
	file   *Arg     // of <(…): what a program reads there, where that is known
}

// Path is a file or directory that a program is told to read.
type Path struct {
	Dir  string // where the program runs, absolute
	Text string // the operand as the program gets it
	Glob bool   // Text is a pattern
}

// Full is the absolute path, not cleaned: "a/../b" goes through a, and where
// that leads is for the file system to say.
func (p Path) Full() string {
	if strings.HasPrefix(p.Text, "/") {
		return p.Text
	}
	if p.Text == "" || p.Text == "." {
		return p.Dir
	}
	return strings.TrimSuffix(p.Dir, "/") + "/" + p.Text
}

// Program is one program that the line would start.
type Program struct {
	Name    string // as written, without quotes
	Path    string // the binary it resolves to; empty for builtins and what was not found
	Builtin bool   // the shell does it by itself
	Args    []Arg  // without the name
	Class   Class
	Why     []string // what speaks against ReadOnly; empty for it
	Paths   []Path   // files it is told to read, where that is known
	Dirs    []string // the directories it may be run in
	linked  []string // where links lead, if it is a file that one leads to, or runs such a script
	Via     []string // what starts it, outermost first: wrappers, substitutions
	// Dynamic: what it gets or whether it runs is decided while the line runs
	// (xargs, a substitution, a function). No rule matches it.
	Dynamic bool

	trusted  bool     // Path is in a trusted place, or it is a builtin
	vouched  bool     // Path is a program of the project that the person has looked at
	known    bool     // there is a form for this program: rules go by it
	fits     bool     // the arguments fit that form
	piped    bool     // its standard input is another program's output
	from     string   // the file that it reads as its input
	pipes    bool     // another program reads its output
	fed      bool     // it is given an input other than the shell's
	input    *Arg     // what its standard input says, where that is known
	name     Arg      // as it stands in the line
	filled   bool     // xargs puts in what it is called
	prints   bool     // it prints what the line got from the network
	vital    bool     // a link leads it to a directory that nobody wants to lose
	fetched  bool     // it runs what the line got from the network
	settings bool     // a variable makes git read settings from elsewhere
	homeTree bool     // git is told by a variable that its tree is such a directory
	repoDirs []string // for git: where it looks for its repository
	homes    homes    // of this machine
	computed bool     // the plain reading does not know all of its words
}

// String is the program as a person reads it, in quotes where words need them.
func (p *Program) String() string {
	var b strings.Builder
	b.WriteString(Quote(p.Name))
	for _, a := range p.Args {
		b.WriteByte(' ')
		if a.Literal {
			b.WriteString(Quote(a.Text))
		} else {
			b.WriteString(clip(a.Text))
		}
	}
	return b.String()
}

// Redirect is one redirection of the line.
type Redirect struct {
	Op     string // <, >, >>, >&, <<, …
	Target string // file, descriptor or here-document delimiter
	Class  Class
	Why    string // empty where it is harmless
	Paths  []Path // a file that is read

	writes  []Path // the file that is written, where its name is literal
	target  Arg
	devices []string // what it writes to, where that is a device by a relative name
	unnamed bool     // which file is read is decided while the line runs
}

// WritesAnywhere reports whether a redirection writes a file whose name is decided
// while the line runs.
func (r Redirect) WritesAnywhere() bool {
	return strings.Contains(r.Op, ">") && r.Class != ReadOnly && !r.target.Literal
}

// Feeds reports whether what a program prints is read by another one of the line,
// or becomes words of it.
func (p *Program) Feeds() bool { return p.pipes || slices.Contains(p.Via, "a substitution") }

// Line is a command line taken apart.
type Line struct {
	Text      string
	Programs  []Program
	Redirects []Redirect
	// Unknown says what about the line as a whole was not understood. A line
	// with an entry here is never allowed.
	Unknown []string

	vague    bool     // what it runs cannot be read off it, see Line.Certain
	floor    []string // what the walk itself found, see Line.Floor
	assigned []string // what variables are set to
	texts    []string // code of other languages in it
	hides    bool     // it runs what does not stand in it, so that a rule may mean that
	made     bool     // it runs a program by a name that stands in it already
	trail    trail    // where it goes
	possible *Line    // what it may do beside what it says; for the floor and for rules that take away
	loose    []loose  // words that may be patterns to the shell of a client's user, see zsh_glob.go
	plain    *Line    // what it does by the plain reading, if that understands it
}

// ReadOnly reports whether the line was understood in full and every program
// and redirection in it only reads. Which files it reads is another question:
// see Program.Paths and Program.Dirs.
func (l *Line) ReadOnly() bool {
	_, against := l.Allowed(nil)
	return len(against) == 0
}

// Allowed reports whether every program of the line only reads or is matched by
// a rule, and every redirection is harmless: which rules it took, and what
// speaks against it. Which files are read is not looked at.
func (l *Line) Allowed(rules []Rule) (used []Rule, against []string) {
	used, against, _ = l.judged(rules, everyReader, nil)
	return used, against
}

// everyReader: what only reads needs no rule, whatever it is.
func everyReader(*Program) bool { return true }

// unread: neither reading understands it in full.
func (l *Line) unread() bool { return len(l.Unknown) > 0 && l.plain == nil }

// readers is the line without the programs and redirections that do more than read.
func (l *Line) readers() *Line {
	out := &Line{Text: l.Text, trail: l.trail}
	for i := range l.Redirects {
		if l.Redirects[i].Class == ReadOnly {
			out.Redirects = append(out.Redirects, l.Redirects[i])
		}
	}
	for i := range l.Programs {
		if l.Programs[i].Class == ReadOnly {
			out.Programs = append(out.Programs, l.Programs[i])
		}
	}
	return out
}

// judged is allowed, by the plain reading where only that understands the line. It
// says by which of the two.
func (l *Line) judged(rules []Rule, free func(*Program) bool, write func(Path) error) (used []Rule, against []string, by *Line) {
	used, against = l.allowed(rules, free, write)
	if len(against) > 0 && l.plain != nil {
		if u, a := l.plain.allowed(rules, free, write); len(a) == 0 {
			return u, nil, l.plain
		}
	}
	return used, against, l
}

// allowed is Allowed; what only reads needs a rule as well where it is not free. What
// write says nothing against may be written by the line itself; nil: no file.
func (l *Line) allowed(rules []Rule, free func(*Program) bool, write func(Path) error) (used []Rule, against []string) {
	if len(l.Unknown) > 0 || len(l.Programs) == 0 {
		return nil, []string{"the line is not understood in full"}
	}
	// A line that only reads runs where nothing can be written. With another
	// program in it that does not hold any more, and only the plainest of those
	// that read may stand beside it without a rule of their own.
	mixed, calm := l.mixed(), l.calm()
	for i := range l.Programs {
		p := &l.Programs[i]
		if p.Class == ReadOnly && !p.Dynamic && free(p) && (!mixed || plainest(p.Name) || calm && readsSettings(p.Name)) {
			continue
		}
		m := slices.IndexFunc(rules, func(r Rule) bool { return !p.computed && r.Match(p) })
		if m >= 0 {
			used = append(used, rules[m])
			continue
		}
		why := "nothing allows " + clip(p.String())
		if near := nearest(rules, p); near != "" {
			why = near
		}
		if files, ok := p.writesTo(); ok && write != nil && !p.computed {
			if len(files) == 0 {
				continue
			}
			err := mayWrite(files, write)
			if err == nil {
				continue
			}
			why += ": " + err.Error()
		}
		against = append(against, why)
	}
	for i := range l.Redirects {
		r := &l.Redirects[i]
		if r.Class == ReadOnly {
			continue
		}
		why := "nothing allows the redirection " + r.Op + " " + Quote(r.Target)
		if r.Class == Writes && len(r.writes) > 0 && write != nil {
			err := mayWrite(r.writes, write)
			if err == nil {
				continue
			}
			why += ": " + err.Error()
		}
		against = append(against, why)
	}
	return used, against
}

// mixed: not everything in the line only reads.
func (l *Line) mixed() bool {
	return slices.ContainsFunc(l.Programs, func(p Program) bool { return p.Class != ReadOnly || p.Dynamic }) ||
		slices.ContainsFunc(l.Redirects, func(r Redirect) bool { return r.Class != ReadOnly })
}

// NeedsRule reports whether a program of the line runs unasked only by a rule about
// it: it does more than read, or stands beside what does.
func (l *Line) NeedsRule(p *Program) bool {
	if p.OnlyWrites() {
		return false
	}
	return p.Class != ReadOnly || p.Dynamic || l.mixed() && !plainest(p.Name) && !(l.calm() && readsSettings(p.Name))
}

// calm: nothing in the line runs code, so that settings are what they were when it
// was judged.
func (l *Line) calm() bool {
	return !slices.ContainsFunc(l.Programs, func(p Program) bool { return p.Class == Runs || p.Class == Unknown || p.Dynamic })
}

// readsSettings lists programs that only read and go by settings which no command
// can write: those of the repository.
func readsSettings(name string) bool { return isOneOf(path.Base(name), "git gofmt") }

// plainest lists programs that start nothing, write nothing and go by no
// settings, whatever files there are.
func plainest(name string) bool {
	return isOneOf(path.Base(name), "cd echo printf pwd true false : test [ exit set export sleep date head tail wc cat grep egrep fgrep ls cut tr nl tac basename dirname "+
		"sort uniq comm cmp diff paste fold expand unexpand rev seq expr sed gsed jq find stat du df realpath readlink md5sum sha1sum sha256sum sha512sum cksum od hexdump column uname nproc whoami id") || isWrapper(path.Base(name)) // what it starts is judged by itself
}

// Explain breaks the line into its parts, one sentence each, for the person
// who is asked.
func (l *Line) Explain() []string {
	var out []string
	for i := range l.Programs {
		p := &l.Programs[i]
		s := clip(p.String()) + ": " + p.Class.String()
		if p.Path != "" && p.Path != p.Name {
			s = fmt.Sprintf("%s (%s): %s", clip(p.String()), p.Path, p.Class)
		}
		if len(p.Via) > 0 {
			s += ", started by " + strings.Join(p.Via, ", ")
		}
		if len(p.Why) > 0 {
			s += " (" + strings.Join(p.Why, ", ") + ")"
		}
		out = append(out, s)
	}
	for _, r := range l.Redirects {
		if r.Why != "" {
			out = append(out, fmt.Sprintf("%s %s: %s", r.Op, Quote(r.Target), r.Why))
		}
	}
	return append(out, l.Unknown...)
}

// Certain reports whether the files that the line runs can be read off it: it
// was read in full, it does not go where nobody knows, and it sets no variable by
// which programs load others. It may still be a line that is never allowed unasked.
func (l *Line) Certain() bool { return !l.vague }

func (l *Line) unknown(format string, args ...any) {
	l.vague = true
	l.unusual(format, args...)
}

// unusual is unknown for what hides nothing about the files that are run: its
// parts are looked at one by one.
func (l *Line) unusual(format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	if len(l.Unknown) < maxReasons && !slices.Contains(l.Unknown, why) {
		l.Unknown = append(l.Unknown, why)
	}
}

// maxReasons bounds what a hostile line can make a person read.
const maxReasons = 20

// Quote writes a word so that nobody mistakes it for two, or for another one
// that looks the same.
func Quote(s string) string {
	plain := s != ""
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c > ' ' && c < 0x7f && !strings.ContainsRune("\"'`\\$&|;<>()*?[]{}~#!", rune(c))
	}
	if plain {
		return clip(s)
	}
	return clip(fmt.Sprintf("%+q", s))
}

// clip keeps a word of a hostile line from filling the screen.
func clip(s string) string { return text.ClipMiddle(s, 400) }
