package shellguard

import (
	"slices"
	"strings"
)

func isExec(t string) bool { return isOneOf(t, "-exec -execdir -ok -okdir") }

// find reads a find that starts programs for what it finds. A name that it finds
// begins with the path it started at, and so is no option.
func (r *plainReader) find(p *Program, st *plainState) {
	var heads possible
	for _, root := range findRoots(p.Args) {
		switch {
		case root.Literal && root.Text != "":
			heads = heads.or(possible{{kind: headed, text: root.Text}})
		case root.head != "" && root.computed == computedPlaces:
			heads = heads.or(possible{{kind: headed, text: root.head}})
		case root.safePattern():
			heads = heads.or(possible{{kind: headed, text: root.Text[:root.fixed]}})
		default:
			heads = unknownText()
		}
	}
	if len(heads) == 0 {
		heads = possible{{kind: headed, text: "."}}
	}
	var rest []Arg
	for i := 0; i < len(p.Args); i++ {
		a := p.Args[i]
		if !isExec(a.Text) {
			rest = append(rest, a)
			continue
		}
		end := i + 1
		for end < len(p.Args) && p.Args[end].Text != ";" && (p.Args[end].Text != "+" || p.Args[end-1].Text != "{}") {
			end++
		}
		if !a.Literal || end == len(p.Args) || end == i+1 || strings.HasPrefix(a.Text, "-ok") || !p.Args[end].Literal {
			r.refuse("the action of find is not followed")
			return
		}
		found := heads
		if a.Text == "-execdir" {
			// It runs in directories that nobody knows.
			if !isOneOf(p.Args[i+1].Text, "cat head tail wc ls stat file grep pwd echo du basename md5sum sha256sum") {
				r.refuse("the action of find is not followed")
				return
			}
			found = possible{{kind: headed, text: "./"}}
		}
		for _, f := range found {
			in := st.fork()
			in.child, in.stdin, in.fed = true, unknownText(), true
			inner := filled(p.Args[i+1:end], "{}", f, true)
			for k := range inner {
				inner[k].many = inner[k].computed != notComputed && p.Args[end].Text == "+"
			}
			r.program(inner, in)
		}
		rest = append(rest, Arg{Text: "-print", Literal: true})
		i = end
	}
	found := Program{Name: p.Name, Path: p.Path, Args: rest, Dirs: p.Dirs, name: p.name, homes: p.homes, trusted: p.trusted, computed: p.computed}
	judge(&found, "find")
	r.add(found)
}

// filled are the words of a command with what is found put in for a mark. Whole: it
// is put in as it is, and not cut into words.
func filled(args []Arg, mark string, a atom, whole bool) []Arg {
	out := slices.Clone(args)
	if mark == "" {
		return out
	}
	for i, arg := range args {
		before, after, ok := strings.Cut(arg.Text, mark)
		if !ok {
			continue
		}
		item := a.arg(whole)
		switch {
		case arg.Text == mark && arg.Literal:
			out[i] = item
		case !arg.Literal || item.computed == computedShown:
			out[i] = Arg{Text: "…", computed: computedWords}
		case item.Literal && !strings.Contains(after, mark):
			out[i] = Arg{Text: before + item.Text + after, Literal: true, sample: item.sample || arg.sample, sure: int32(sureOf(arg, len(before)))}
		case before != "" && before[0] != '-':
			out[i] = Arg{Text: before + "…", head: before, computed: computedPlaces}
		case before == "" && item.computed == computedPlaces:
			out[i] = item
		default:
			out[i] = Arg{Text: before + "…", head: before, computed: computedWord}
		}
	}
	return out
}

// sureOf is how much is known of a word that has so many bytes before its mark.
func sureOf(a Arg, before int) int {
	if a.sample {
		return min(int(a.sure), before)
	}
	return before
}

// arg is an atom as a word of a command.
func (a atom) arg(whole bool) Arg {
	switch a.kind {
	case exact:
		if a.text != "" && (whole || !strings.ContainsAny(a.text, " \t\n'\"\\")) {
			return Arg{Text: a.text, Literal: true}
		}
	case number:
		return Arg{Text: "1", Literal: true, sample: true}
	case hashes:
		return Arg{Text: "0123abc", Literal: true, sample: true}
	case foreign:
		return Arg{Text: "$…", computed: computedShown}
	case headed:
		if whole && a.text[0] != '-' {
			return Arg{Text: a.text + "…", head: a.text, computed: computedPlaces}
		}
	}
	if whole {
		return Arg{Text: "…", computed: computedWord}
	}
	return Arg{Text: "…", computed: computedWords}
}

// xargsOptions is what xargs was told before the command.
type xargsOptions struct {
	mark  string // what stands for an item
	whole bool   // an item is a whole line, or ends with a zero byte
	plain bool   // it is taken as it is: quotes and blanks are part of it
	zero  bool   // it ends with a zero byte
	file  string // where the items come from
}

// xargsCommand reads the options of xargs.
func xargsCommand(args []Arg) (o xargsOptions, rest []Arg, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.Literal {
			return o, nil, false
		}
		t := a.Text
		value := func(letter string) (string, bool) {
			if t != letter {
				return t[len(letter):], true
			}
			if i++; i < len(args) && args[i].Literal && args[i].Text != "" {
				return args[i].Text, true
			}
			return "", false
		}
		switch {
		case !strings.HasPrefix(t, "-"):
			return o, args[i:], true
		case t == "-0" || t == "--null" || t == "-0r" || t == "-r0":
			o.whole, o.zero, o.plain = true, true, true
		case t == "-r" || t == "--no-run-if-empty" || t == "-t" || t == "-x":
		case strings.HasPrefix(t, "-n"), strings.HasPrefix(t, "-L"), strings.HasPrefix(t, "-P"):
			// Behind -I they take it back, or most of them do.
			if n, ok := value(t[:2]); !ok || !isNumber(n) || o.mark != "" && t[1] != 'P' {
				return o, nil, false
			}
		case strings.HasPrefix(t, "-I"):
			if o.mark, ok = value("-I"); !ok {
				return o, nil, false
			}
			o.whole = true
		case strings.HasPrefix(t, "-d"):
			if d, ok := value("-d"); !ok || d != "\\n" && d != "\n" {
				return o, nil, false
			}
			o.whole, o.plain = true, true
		case strings.HasPrefix(t, "-a"):
			if o.file, ok = value("-a"); !ok {
				return o, nil, false
			}
		default:
			return o, nil, false
		}
	}
	return o, nil, true
}

// xargs reads the command that xargs gives what it reads.
func (r *plainReader) xargs(p *Program, st *plainState) possible {
	o, rest, ok := xargsCommand(p.Args)
	if !ok || p.computed && len(rest) == 0 {
		r.refuse("the options of xargs are not followed")
		return unknownText()
	}
	if len(rest) == 0 {
		rest = []Arg{{Text: "echo", Literal: true}}
	}
	if o.mark != "" && strings.Contains(rest[0].Text, o.mark) {
		r.refuse("xargs reads the name of a program")
		return unknownText()
	}
	own := Program{Name: p.Name, Path: p.Path, Dirs: p.Dirs, name: p.name, homes: p.homes, trusted: p.trusted}
	items := st.stdin.single()
	if o.zero {
		items = st.stdin.record()
	}
	if o.file != "" {
		items = unknownText()
		for _, d := range p.Dirs {
			own.Paths = append(own.Paths, Path{Dir: d, Text: o.file})
		}
	}
	if len(items) == 0 {
		items = unknownText() // it runs the command once all the same
	}
	r.transparent(own)
	var out possible
	for _, a := range items {
		if !o.plain && (a.kind == exact || a.kind == headed) && (strings.ContainsAny(a.text, "'\"\\\n") || a.text != strings.TrimSpace(a.text)) {
			a = atom{kind: any_} // quotes and blanks are taken away
		}
		in := st.fork()
		in.child, in.stdin, in.fed = true, unknownText(), true
		if o.mark != "" {
			printed, _ := r.program(filled(rest, o.mark, a, o.whole), in)
			out = out.or(printed)
			continue
		}
		item := a.arg(o.whole)
		item.many = item.computed != notComputed
		printed, _ := r.program(append(slices.Clone(rest), item), in)
		if item.Literal {
			r.program(append(slices.Clone(rest), item, item), in.fork())
		}
		out = out.or(printed)
	}
	return out.several()
}
