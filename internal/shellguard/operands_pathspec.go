package shellguard

import (
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// git has patterns of its own, which it reads where a shell left them alone: a * in
// them goes through slashes, and a directory that fits means all that lies in it.
// They find what git keeps of a denied place, where no sandbox can cover it. So one
// that says a part of the name of a place is taken for the place; one that only
// passes by it ('*.go') is like git log -p without a path.

// addPathspecs adds the patterns among the words of git, and the paths that count from
// a directory of its history: git diff HEAD:infra -- private.
func (o *operands) addPathspecs(p *Program, sub string, rest []Arg, guess bool) {
	if !takesPathspecs(sub) {
		return
	}
	words := specWords(sub, rest)
	for _, a := range words {
		for _, t := range a.texts() {
			o.addPathspec(p, t, Operand{Guess: guess || !a.Literal && !a.Glob})
		}
	}
	for _, a := range rest {
		_, tree, ok := strings.Cut(a.Text, ":")
		if strings.HasPrefix(a.Text, "-") || strings.HasPrefix(a.Text, ":") || !ok || tree == "" || !a.Literal {
			continue
		}
		for _, b := range words {
			if b.Text != a.Text && !strings.HasPrefix(b.Text, ":") {
				o.addHistoryFile(p, ":"+path.Join(tree, b.Text), b, guess)
				o.addPathspec(p, ":/"+path.Join(tree, b.Text), Operand{Guess: guess || !b.Literal && !b.Glob})
			}
		}
	}
}

// addPathspec adds one of them, if it is a pattern.
func (o *operands) addPathspec(p *Program, word string, as Operand) {
	magic, rest := "", word
	switch {
	case strings.HasPrefix(word, ":("):
		magic, rest, _ = strings.Cut(word[2:], ")")
	case strings.HasPrefix(word, ":"):
		rest = strings.TrimLeft(word[1:], "/!^:")
		magic = word[:len(word)-len(rest)]
	}
	if strings.ContainsAny(magic, "!^") || strings.Contains(magic, "exclude") || !strings.ContainsAny(rest, `*?[\`) {
		return
	}
	if o.specs += len(rest); len(rest) > maxSpec || o.specs > maxSpecs {
		as.Path, as.pathspec = "", anySpec
		key := operandKey{full: "pathspec " + anySpec, guess: as.Guess}
		if !o.seen[key] {
			o.seen[key] = true
			o.found = append(o.found, as)
		}
		return
	}
	add := func(dir string) {
		full := path.Join("/", dir, rest)
		key := operandKey{full: "pathspec " + full, guess: as.Guess}
		if o.seen[key] || len(o.found) >= maxOperands {
			return
		}
		o.seen[key] = true
		as.Path, as.pathspec = "", full
		o.found = append(o.found, as)
		hidden := o.hidden
		o.hidden = true // the patterns of git match leading dots
		o.add(dir, strings.ReplaceAll(rest, `\`, ""), true, Operand{Guess: as.Guess})
		o.hidden = hidden
	}
	for _, d := range p.historyDirs() {
		add(d)
		for top := path.Clean(d); magic != "" && top != path.Dir(top); top = path.Dir(top) {
			add(path.Dir(top)) // the top of the repository, which may be any of them
		}
	}
}

// Nobody writes patterns that are longer, or so many of them; comparing them with
// every rule would take seconds. They count as ones that say every place.
const (
	maxSpec  = 300
	maxSpecs = 4 << 10 // bytes of all patterns of a line
	anySpec  = "*"
)

// takesPathspecs: subcommands of git that print what they know of paths.
func takesPathspecs(sub string) bool {
	return isOneOf(sub, "log show diff grep ls-files ls-tree status whatchanged shortlog rev-list diff-tree diff-index diff-files format-patch archive blame annotate stash reflog checkout restore add")
}

// specWords are the words of git that are paths or patterns of paths, and perhaps
// names of commits, which are no patterns.
func specWords(sub string, rest []Arg) []Arg {
	if at := slices.IndexFunc(rest, func(a Arg) bool { return a.Text == "--" || a.Text == "--end-of-options" }); at >= 0 && rest[at].Text == "--" {
		return rest[at+1:]
	}
	var out []Arg
	searching := sub == "grep" && !slices.ContainsFunc(rest, func(a Arg) bool {
		return hasLetter(a.Text, "ef") && len(a.Text) > 1 || strings.HasPrefix(a.Text, "--and") || strings.HasPrefix(a.Text, "--or")
	})
	for i, a := range rest {
		switch {
		case strings.HasPrefix(a.Text, "-"), i > 0 && gitOptionValue(rest[i-1].Text):
		case searching:
			searching = false // what is looked for
		default:
			out = append(out, a)
		}
	}
	return out
}

// gitOptionValue: the next word belongs to this one.
func gitOptionValue(option string) bool {
	return isOneOf(option, "-S -G -I -L -n -e -f -A -B -C -m -O -l -o --author --committer --grep --since --after --until --before --format --date --glob --exclude --max-count --skip --max-depth --threads --message --prefix --output --decorate-refs --decorate-refs-exclude --grep-reflog --exclude-standard -x -X --exclude-from") && option != "--exclude-standard"
}

// saysPlace: the pattern of git finds what the rule means, and a part of it stands for
// a part of the last name in the rule.
func saysPlace(spec string, g pathglob.Glob) bool {
	p, r := specSigns(spec), placeSigns(g)
	if spec == anySpec {
		return true
	}
	type state struct {
		p, r  int
		named bool
	}
	seen, todo := make([]bool, 2*(len(p)+1)*(len(r)+1)), []state{{}}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		at := 2 * (s.p*(len(r)+1) + s.r)
		if s.named {
			at++
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		if s.p == len(p) && s.r == len(r) {
			if s.named {
				return true
			}
			continue
		}
		if s.p < len(p) && p[s.p].skip > 0 {
			todo = append(todo, state{s.p + p[s.p].skip, s.r, s.named})
		}
		if s.r < len(r) && r[s.r].skip > 0 {
			todo = append(todo, state{s.p, s.r + r[s.r].skip, s.named})
		}
		if s.p == len(p) || s.r == len(r) || !p[s.p].meets(r[s.r]) {
			continue
		}
		next := state{s.p + 1, s.r + 1, s.named || p[s.p].char != 0 && r[s.r].named}
		if p[s.p].many {
			next.p--
		}
		if r[s.r].many {
			next.r--
		}
		todo = append(todo, next)
	}
	return false
}

// sign is a character of a pattern, or what stands for some.
type sign struct {
	char  rune // 0: any
	many  bool // any number of them
	whole bool // not a slash
	named bool // of the name that has to be said
	skip  int  // this many signs may be missing
}

// below is what lies in a directory, or the directory itself.
func below() []sign { return []sign{{char: '/', skip: 2}, {many: true, skip: 1}} }

func (t sign) meets(u sign) bool {
	switch {
	case t.char != 0 && u.char != 0:
		return t.char == u.char
	case t.whole:
		return u.char != '/'
	case u.whole:
		return t.char != '/'
	}
	return true
}

// specSigns reads a pattern of git, folded.
func specSigns(spec string) []sign {
	var out []sign
	escaped := false
	for elem := range strings.SplitSeq(strings.TrimPrefix(brackets.Regexp().ReplaceAllString(spec, "?"), "/"), "/") {
		if elem == "**" { // or nothing
			out = append(out, below()...)
			continue
		}
		out = append(out, sign{char: '/'})
		for _, c := range pathglob.Fold(elem) {
			switch {
			case escaped:
				escaped = false
				out = append(out, sign{char: c})
			case c == '\\':
				escaped = true
			case c == '*':
				out = append(out, sign{many: true, skip: 1})
			case c == '?':
				out = append(out, sign{})
			default:
				out = append(out, sign{char: c})
			}
		}
	}
	return append(out, below()...)
}

// placeSigns reads the pattern of a rule, which is folded already.
func placeSigns(g pathglob.Glob) []sign {
	last := -1
	for i, elem := range g {
		if strings.Trim(elem, "*?") != "" {
			last = i
		}
	}
	var out []sign
	for i, elem := range g {
		if elem == "**" {
			out = append(out, below()...)
			continue
		}
		out = append(out, sign{char: '/'})
		for _, c := range plainPattern(elem) {
			switch c {
			case '*':
				out = append(out, sign{many: true, whole: true, skip: 1})
			case '?':
				out = append(out, sign{whole: true})
			default:
				out = append(out, sign{char: c, named: i == last})
			}
		}
	}
	return append(out, below()...)
}
