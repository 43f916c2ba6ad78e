package shellguard

import (
	"path"
	"slices"
	"strings"
)

// A line can make a name of its own for a program (cp /bin/rm x && ./x) or for a
// directory (ln -s ~ h && rm -rf h/*). So the names that it gives are kept, and
// what goes by one of them is looked at as what it may stand for.

// placeLink is a name that the line gives to a place.
type placeLink struct{ name, target string }

// lineNames is what a line has named so far.
type lineNames struct {
	words         map[string]bool // last elements of all words
	floorPrograms []string        // programs of the floor among them
	links         []placeLink
}

// maxNames bounds them; a line with more is asked about.
const maxNames = 4000

// noteNames notes the words of a command.
func (w *walker) noteNames(args []Arg) {
	if w.names == nil || w.quiet {
		return
	}
	for _, a := range args {
		for _, t := range a.texts() {
			for _, part := range pathsIn(t) {
				key := fileKey(part)
				if key == "" || w.names.words[key] {
					continue
				}
				if len(w.names.words) >= maxNames {
					w.tooMuch()
					return
				}
				w.names.words[key] = true
				if floorProgram(key) {
					w.names.floorPrograms = append(w.names.floorPrograms, key)
				}
			}
		}
	}
}

// noteLinks notes which places a line gives another name.
func (w *walker) noteLinks(p *Program, name string, sc scope) {
	if w.names == nil || name != "ln" && name != "mount" && name != "cp" || name == "cp" && !p.flag("s", "symbolic-link") || name == "mount" && !p.flag("B", "bind", "rbind") && !p.word("bind", "rbind") {
		return
	}
	var at []string
	for _, a := range p.Args {
		if t := a.texts()[0]; !strings.HasPrefix(t, "-") && t != "bind" && t != "rbind" {
			at = append(at, t)
		}
	}
	if len(at) == 0 || len(w.names.links) > maxDirs*maxDirs {
		return
	}
	targets, to := at[:max(1, len(at)-1)], "."
	if len(at) > 1 {
		to = at[len(at)-1]
	}
	for _, target := range targets {
		if !strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "~") && !strings.HasPrefix(target, "$") && !strings.Contains(target, "..") {
			continue
		}
		for _, d := range sc.dirs {
			full := Path{Dir: d, Text: to}.Full()
			for _, l := range []string{full, full + "/" + fileKey(target)} {
				l, to := path.Clean(l), target
				if strings.HasPrefix(to, ".") { // it counts from where the link is
					to = path.Join(path.Dir(l), to)
				}
				w.names.links = append(w.names.links, placeLink{l, to})
			}
		}
	}
}

// followLink is a path with the links of the line followed; false if there are none
// in it.
func (w *walker) followLink(dir, text string) (string, bool) {
	if w.names == nil || len(w.names.links) == 0 || text == "" || text[0] == '-' {
		return "", false
	}
	full := strings.ReplaceAll(Path{Dir: dir, Text: text}.Full(), "/./", "/")
	for _, l := range w.names.links {
		rest, ok := strings.CutPrefix(full, l.name)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if rest == "" && !strings.HasSuffix(text, "/") {
			continue // the link itself
		}
		return strings.TrimSuffix(l.target, "/") + rest, true
	}
	return "", false
}

// underOtherNames walks a program once more as what its name and its arguments stand for
// by the names that the line gave.
func (w *walker) underOtherNames(p *Program, args []Arg, sc scope) {
	if w.names == nil || w.guess && slices.Contains(sc.via, "another name") {
		return
	}
	in := sc.started("another name")
	in.dynamic = true
	if in.depth > maxWrapping {
		return
	}
	if w.names.words[fileKey(p.Name)] && (strings.Contains(p.Name, "/") || !p.trusted && !p.Builtin || w.vars["PATH"].texts != nil) && !strings.HasPrefix(p.Name, "/usr/") && !strings.HasPrefix(p.Name, "/bin/") {
		w.line.made = true
		for _, is := range w.names.floorPrograms {
			w.possibleWalker().program(append([]Arg{{Text: is, Literal: true}}, p.Args...), in)
		}
	}
	if len(w.names.links) == 0 {
		return
	}
	changed := slices.Clone(args)
	found := false
	for i, a := range args[1:] {
		for _, d := range sc.dirs {
			if to, ok := w.followLink(d, a.texts()[0]); ok {
				changed[i+1], found = Arg{Text: to, Literal: a.Literal, Glob: a.Glob}, true
			}
		}
	}
	if found {
		w.possibleWalker().program(changed, in)
	}
}

// throughVitalLink says that a program which removes is told to go through a link, made
// before, that leads to a directory nobody wants to lose.
func (p *Program) throughVitalLink(name string, opt *Options) bool {
	if opt.EvalSymlinks == nil || !isOneOf(name, "rm chmod chown chgrp find rsync shred setfacl") {
		return false
	}
	for n, a := range p.Args {
		t := a.texts()[0]
		if n > 100 || t == "" || t[0] == '-' || strings.HasPrefix(t, "/") || strings.ContainsAny(t, "$~`") {
			continue
		}
		// What stands before the last slash, or before the first wildcard.
		at := strings.LastIndexByte(strings.TrimRight(t, "/"), '/')
		if i := strings.IndexAny(t, "*?["); i >= 0 {
			at = strings.LastIndexByte(t[:i], '/')
		} else if strings.HasSuffix(t, "/") || name == "find" {
			at = len(t)
		}
		if at <= 0 {
			continue
		}
		for _, d := range p.Dirs {
			full := Path{Dir: d, Text: t[:at]}.Full()
			to, err := opt.EvalSymlinks(full)
			if err == nil && to != path.Clean(full) && p.homes.isVitalDir(path.Clean(to)) && !p.homes.isVitalDir(path.Clean(full)) {
				return true
			}
		}
	}
	return false
}
