package guard

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// operand is a path that a line names.
type operand struct {
	forms    *pathForms
	write    bool // it is written to
	mayWrite bool // nobody knows that it is not
	guess    bool // only perhaps the line names it
}

// maxOperands bounds how many paths of a line are followed.
const maxOperands = 2000

// operands are the paths that the command line names: what its programs are
// told to read, where they run, what is redirected, what stands as a string in
// the code of other languages, and for programs that are not understood
// everything that could be a path.
func (s *subject) operands() []operand {
	if s.gotOperands {
		return s.placeOperands
	}
	s.gotOperands = true
	l := s.commandLine()
	if l == nil {
		return nil
	}
	o := &operands{s: s, at: s.opt.places(), seen: map[operandKey]bool{}}
	o.line(l, false)
	if l.possible != nil {
		o.line(l.possible, true)
	}
	return s.placeOperands
}

// operands collects them.
type operands struct {
	s    *subject
	at   places
	seen map[operandKey]bool
	dirs []string
}

type operandKey struct {
	full                   string
	write, mayWrite, guess bool
}

func (o *operands) add(dir, text string, glob bool, as operand) {
	if text == "" || len(text) > 4096 || strings.ContainsFunc(text, unicode.IsControl) {
		return
	}
	for _, full := range o.s.spelt(dir, text, glob) {
		key := operandKey{full, as.write, as.mayWrite, as.guess}
		if o.seen[key] || len(o.s.placeOperands) >= maxOperands {
			continue
		}
		o.seen[key] = true
		if as.forms = formsOf(full, &o.at); !as.forms.unclear {
			o.s.placeOperands = append(o.s.placeOperands, as)
		}
	}
}

func (o *operands) line(l *Line, guess bool) {
	for i := range l.Programs {
		o.program(&l.Programs[i], guess)
	}
	dirs := o.dirs
	if len(dirs) == 0 {
		dirs = []string{o.at.base}
	}
	for i := range l.Redirects {
		r := &l.Redirects[i]
		for _, f := range r.Paths {
			o.add(f.Dir, f.Text, f.Glob, operand{guess: guess})
		}
		if strings.HasPrefix(r.Op, "<<") {
			continue
		}
		if !r.target.Literal && !r.target.Glob {
			o.expanded(r.target, dirs, operand{write: strings.Contains(r.Op, ">"), guess: true})
			continue
		}
		for _, d := range dirs {
			o.add(d, r.Target, r.target.Glob, operand{write: strings.Contains(r.Op, ">"), guess: guess})
		}
	}
	for _, t := range l.assigned {
		for _, text := range pathsIn(t) {
			for _, d := range dirs {
				o.add(d, text, false, operand{mayWrite: true, guess: true})
			}
		}
	}
	for _, t := range l.texts {
		for _, text := range quotedStrings(t) {
			text = strings.TrimLeft(text, "<>+| ")
			if len(text) > 300 || strings.ContainsAny(text, "\n\t ") {
				continue
			}
			for _, d := range dirs {
				o.add(d, text, false, operand{mayWrite: true, guess: guess})
			}
		}
	}
}

func (o *operands) program(p *Program, guess bool) {
	name := programName(p.Name)
	as := operand{write: writesOperands(name), guess: guess}
	as.mayWrite = p.Class != ReadOnly && !keepsOperands(name, p.Args)
	for _, d := range p.Dirs {
		if !slices.Contains(o.dirs, d) {
			o.dirs = append(o.dirs, d)
		}
		o.add(d, ".", false, operand{mayWrite: as.mayWrite && !p.Builtin && d != o.at.base, guess: guess})
	}
	for _, f := range p.Paths {
		o.add(f.Dir, f.Text, f.Glob, operand{mayWrite: as.mayWrite, guess: guess})
	}
	o.history(p, guess)
	if p.Class == ReadOnly {
		return
	}
	said := messages(name, p.Args)
	for i, a := range p.Args {
		if said[i] {
			continue
		}
		if !a.Literal && !a.Glob {
			perhaps := as
			perhaps.guess = true
			o.expanded(a, p.Dirs, perhaps)
			continue
		}
		for _, text := range pathsIn(a.Text) {
			for _, d := range p.Dirs {
				o.add(d, text, a.Glob, as)
			}
		}
	}
}

// messages finds the words that are certainly no paths, but what somebody says:
// the messages of git commit and git tag, as long as every option before them is
// known.
func messages(name string, args []Arg) map[int]bool {
	if name != "git" || len(args) == 0 || args[0].Text != "commit" && args[0].Text != "tag" {
		return nil
	}
	said := map[int]bool{}
	for i := 1; i < len(args) && args[i].Literal && !args[i].Glob; i++ {
		switch text := args[i].Text; {
		case text == "--message" || plainFlags.MatchString(strings.TrimSuffix(text, "m")) && strings.HasSuffix(text, "m"):
			if i++; i < len(args) && args[i].Literal {
				said[i] = true
			}
		case strings.HasPrefix(text, "--message="):
			said[i] = true
		case text == "--amend", text == "--all", text == "--no-verify", text == "--signoff", text == "--quiet", text == "--allow-empty", len(text) > 1 && plainFlags.MatchString(text):
		default:
			return said
		}
	}
	return said
}

// plainFlags are options of git commit and git tag without values.
var plainFlags = regexp.MustCompile(`^-[aqvnse]*$`)

// expansion is what stands in a word for something else.
var expansion = regexp.MustCompile(`\$\(…\)|\$\(\(…\)\)|\$\{?(\w+)(?::-[^/]*)?\}?`)

// expanded adds what a word with expansions may name: what it becomes if they are
// empty, or the directory where the program runs, as $PWD is.
func (o *operands) expanded(a Arg, dirs []string, as operand) {
	for _, t := range a.texts() {
		at := expansion.FindAllStringSubmatchIndex(t, -1)
		if len(at) == 0 || len(at) > maxVaried {
			continue
		}
		last := at[len(at)-1]
		plain := expansion.ReplaceAllString(t[:last[0]], "")
		tails := []string{t[last[1]:]}
		if last[2] >= 0 { // $Xdeploy/x may be ${X}deploy/x
			for i := last[2] + 1; i < last[3] && len(tails) < maxValues; i++ {
				tails = append(tails, t[i:])
			}
		}
		for _, tail := range tails {
			for _, text := range pathsIn(plain + tail) {
				for _, d := range dirs {
					o.add(d, strings.TrimLeft(text, "/"), strings.ContainsAny(text, "*?["), as)
					o.add(d, text, strings.ContainsAny(text, "*?["), as)
				}
			}
		}
	}
}

// spelt is the path that a word means, or those that a pattern means now.
func (s *subject) spelt(dir, text string, glob bool) []string {
	full := (Path{Dir: dir, Text: text}).Full()
	if !glob || s.opt.Shell == nil || s.opt.Shell.Glob == nil || starred(text) > 2 {
		return []string{full}
	}
	files, err := s.opt.Shell.Glob(full)
	if err != nil || len(files) > maxMatches {
		return []string{full}
	}
	return append(files, full)
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
	return out
}

// writesOperands knows programs whose operands are written, moved or removed.
func writesOperands(name string) bool {
	switch name {
	case "rm", "rmdir", "mv", "cp", "ln", "touch", "tee", "mkdir", "truncate", "chmod", "chown", "chgrp", "install", "dd", "sed", "patch", "rsync", "unlink", "shred", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "compress", "uncompress", "sponge", "mkfifo", "mknod", "mktemp":
		return true
	}
	return false
}

// keepsOperands knows programs that write nothing where their operands are, or
// only with options that were not given. The others may, whatever they are.
func keepsOperands(name string, args []Arg) bool {
	has := func(options ...string) bool {
		return slices.ContainsFunc(args, func(a Arg) bool {
			return slices.ContainsFunc(options, func(o string) bool {
				return a.Text == o || strings.HasPrefix(o, "--") && strings.HasPrefix(a.Text, o+"=") || len(o) == 2 && strings.HasPrefix(a.Text, o) && !strings.HasPrefix(a.Text, "--")
			})
		})
	}
	switch name {
	case "cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "ag", "wc", "diff", "cmp", "comm", "ls", "tree", "du", "stat", "file", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "jq", "bat", "nl", "od", "hexdump", "strings", "cut", "tac", "rev", "basename", "dirname", "realpath", "readlink", "test", "[", "cd", "pushd", "echo", "printf", "less", "more", "export", "ssh",
		"docker", "podman", "kubectl", "helm", "gh", "curl", "wget":
		return !has("cp", "-o", "-O", "--output", "--output-document", "--output-dir", "-D", "-c", "--cookie-jar", "--dump-header", "-P", "--directory-prefix")
	case "sort":
		return !has("-o", "--output")
	case "find", "fd", "fdfind":
		return !has("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls", "-x", "-X", "--exec", "--exec-batch")
	case "go":
		return !has("-o", "-coverprofile", "-cpuprofile", "-memprofile", "-trace", "-outputdir", "generate", "fmt", "fix", "mod", "work", "run", "test")
	case "git":
		switch sub, _ := gitSubCommand(args); sub {
		case "add", "commit", "push", "fetch", "tag", "branch", "config", "remote", "log", "diff", "show", "blame", "status", "ls-files", "grep", "rev-parse", "describe", "shortlog", "reflog":
			return !has("--output", "-o", "-O")
		}
	}
	return isWrapper(name) && name != "script" && name != "flock" // what it starts is looked at by itself
}
