package shellguard

import (
	"path"
	"slices"
	"strings"
)

// prints is what the lines may be that a program prints which only reads.
func prints(p *Program, name string, st *plainState, opt *Options) possible {
	switch name {
	case ":", "true", "false", "test", "[", "set", "exit":
		return nil
	case "pwd":
		return exactly(st.dirs...)
	case "echo":
		return echoes(p.Args)
	case "ls", "dir":
		return possible{{kind: relative, lines: true}}
	case "nproc":
		return possible{{kind: number}}
	case "find":
		return finds(p.Args)
	case "cd":
		return nil
	}
	found := findForm(name, p.Args)
	u, _, why := found.form.read(found.rest, false)
	if why != "" || u.repeats() {
		return unknownText()
	}
	switch name {
	case "git":
		return gitPrints(p, &u, st, opt)
	case "basename", "dirname":
		return cutsPath(name, &u)
	case "wc":
		if len(u.operands) == 0 && len(u.opts) == 1 && isOneOf(u.opts[0].name, "l c w m lines bytes words chars") {
			return possible{{kind: number}}
		}
	case "seq":
		if !slices.ContainsFunc(u.operands, func(a Arg) bool { return !isNumber(a.Text) }) && len(u.opts) == 0 {
			return possible{{kind: number, lines: true}}
		}
	case "id":
		if len(u.opts) == 1 && u.opts[0].name == "u" && len(u.operands) == 0 {
			return possible{{kind: number}}
		}
	case "date":
		if len(u.opts) == 0 && len(u.operands) == 1 && isOneOf(u.operands[0].Text, "+%s +%Y +%m +%d +%H +%M") {
			return possible{{kind: number}}
		}
	case "grep", "egrep", "fgrep":
		plain := !slices.ContainsFunc(u.opts, func(o option) bool { return !isOneOf(o.name, "v i E F w x c q e m") })
		literal := !slices.ContainsFunc(u.operands, func(a Arg) bool { return !a.Literal && !a.one })
		switch {
		case u.has("c") && plain && literal && (len(u.operands) < 2 || len(u.operands) == 2 && !u.has("e")): // of several files it prints the names
			return possible{{kind: number}}
		case plain && literal && (len(u.operands) == 0 || len(u.operands) == 1 && !u.has("e")):
			return passed(name, &u, st.stdin)
		}
	case "head", "tail", "cat", "sort", "uniq":
		if len(u.operands) == 0 && !u.has("c", "count", "n", "A", "b", "e", "E", "T", "t", "v", "bytes", "number", "show-all") || name == "head" && len(u.operands) == 0 && !u.has("c", "bytes", "v", "verbose") {
			return passed(name, &u, st.stdin)
		}
	}
	return unknownText()
}

// repeats: an option is given twice, so that it depends on the program which one counts.
func (u *usage) repeats() bool {
	seen := map[string]bool{}
	for _, o := range u.opts {
		name := o.name
		if name == "pretty" {
			name = "format" // which is another name for it
		}
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

// passed is what a program lets through of its input: some of its lines, or of what
// ends with a zero byte. Where it begins is kept by those that leave out nothing
// before it.
func passed(name string, u *usage, in possible) possible {
	if name == "cat" || name == "head" || u.has("z", "zero-terminated", "null-data") {
		return in.several()
	}
	return in.single().several()
}

// echoes is what echo prints of words that are known.
func echoes(args []Arg) possible {
	words := make([]string, len(args))
	for i, a := range args {
		if a.computed == computedShown {
			return possible{{kind: any_}, {kind: foreign}}
		}
		if !a.Literal || a.sample || strings.ContainsAny(a.Text, "\\\n") || i == 0 && strings.HasPrefix(a.Text, "-") {
			return unknownText()
		}
		words[i] = a.Text
	}
	return exactly(strings.Join(words, " "))
}

// cutsPath is what basename and dirname print.
func cutsPath(name string, u *usage) possible {
	if len(u.opts) > 0 || len(u.operands) == 0 || len(u.operands) > 2 || slices.ContainsFunc(u.operands, func(a Arg) bool { return !a.Literal || a.sample || a.Text == "" || strings.Contains(a.Text, "\n") }) {
		return unknownText()
	}
	text := u.operands[0].Text
	if name == "basename" {
		out := path.Base(text)
		if len(u.operands) == 2 && out != u.operands[1].Text {
			out = strings.TrimSuffix(out, u.operands[1].Text)
		}
		return exactly(out)
	}
	if len(u.operands) > 1 {
		return unknownText()
	}
	// It only cuts: what path.Dir makes of link/../x lies elsewhere.
	at := strings.LastIndexByte(strings.TrimRight(text, "/"), '/')
	if at < 0 && text[0] != '/' {
		return exactly(".")
	}
	if text = strings.TrimRight(text[:max(at, 0)], "/"); text == "" {
		text = "/"
	}
	return exactly(text)
}

// finds is what find prints: names that begin with where it started.
func finds(args []Arg) possible {
	if slices.ContainsFunc(args, func(a Arg) bool { return a.Text == "-printf" || a.Text == "-ls" }) {
		return unknownText()
	}
	roots := findRoots(args)
	if len(roots) == 0 {
		return possible{{kind: headed, text: ".", lines: true}}
	}
	var out possible
	for _, a := range roots {
		switch {
		case a.Literal && a.Text != "":
			out = out.or(possible{{kind: headed, text: a.Text, lines: true}})
		case a.computed == computedPlaces && a.head != "":
			out = out.or(possible{{kind: headed, text: a.head, lines: true}})
		default:
			return unknownText()
		}
	}
	return out
}

// gitPrints is what git prints, where that is names of commits, numbers or files.
func gitPrints(p *Program, u *usage, st *plainState, opt *Options) possible {
	sub, _ := gitSubCommand(p.Args)
	literal := !slices.ContainsFunc(u.operands, func(a Arg) bool { return !a.Literal })
	only := func(names string) bool {
		return !slices.ContainsFunc(u.opts, func(o option) bool { return !isOneOf(o.name, names) && !isNumber(o.name) })
	}
	commits := possible{{kind: hashes}}
	switch sub {
	case "merge-base":
		if literal && only("a all") {
			commits[0].lines = len(u.opts) > 0
			return commits
		}
	case "rev-list":
		switch {
		case literal && u.has("count") && only("count all tags branches n max-count merges no-merges first-parent"):
			return possible{{kind: number}}
		case literal && only("all tags branches n max-count merges no-merges first-parent reverse skip"):
			one := func(o option) bool {
				return o.name == "1" || (o.name == "n" || o.name == "max-count") && o.value == "1"
			}
			commits[0].lines = !slices.ContainsFunc(u.opts, one)
			return commits
		}
	case "rev-parse":
		switch {
		case len(u.opts) == 1 && u.opts[0].name == "show-toplevel" && len(u.operands) == 0 && len(p.Args) == 2:
			return toplevels(st.dirs, opt)
		case literal && len(u.operands) == 1 && !u.operands[0].sample && only("short verify q quiet"):
			return commits.or(exactly(u.operands[0].Text))
		}
	case "log": // show prints the messages of tags, and what changed
		if f := slices.IndexFunc(u.opts, func(o option) bool { return o.name == "format" || o.name == "pretty" }); f >= 0 && literal &&
			isOneOf(strings.TrimPrefix(u.opts[f].value, "format:"), "%H %h") && only("format pretty n max-count all author since until no-patch s reverse merges no-merges first-parent") {
			commits[0].lines = true
			return commits
		}
	case "ls-files", "ls-tree", "diff":
		if sub == "diff" && u.has("name-only") && only("name-only cached staged diff-filter") || sub == "ls-files" && only("cached c others o modified m deleted d exclude-standard z") || sub == "ls-tree" && u.has("name-only") && only("r name-only") {
			return possible{{kind: relative, lines: true}}
		}
	}
	return unknownText()
}

// toplevels is where the repositories of directories begin: the directory itself if
// there is none.
func toplevels(dirs []string, opt *Options) (out possible) {
	for _, d := range dirs {
		top, ok := toplevel(d, opt)
		switch {
		case ok:
			out = out.or(exactly(top))
		case top != "": // git has another opinion of it
			return unknownText()
		default:
			out = out.or(exactly(d))
		}
	}
	return out
}

func toplevel(dir string, opt *Options) (top string, ok bool) {
	for at := dir; opt.Lstat != nil; at = path.Dir(at) {
		if _, err := opt.Lstat(path.Join(at, ".git")); err == nil {
			return at, isRepository(path.Join(at, ".git"), opt)
		}
		if at == "/" || at == "." {
			break
		}
	}
	return "", false
}

// isRepository: git takes the directory for its own. What a file of this name leads to
// is not followed.
func isRepository(dir string, opt *Options) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := opt.Lstat(path.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func inRepository(dir string, opt *Options) bool {
	_, ok := toplevel(dir, opt)
	return ok
}
