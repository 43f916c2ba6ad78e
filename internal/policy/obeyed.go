package policy

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/sensitive"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// Obeyed finds calls that would write what other programs execute or obey
// later: settings of agents and editors, hooks, what git is pointed at. A person
// is asked about those in every mode, whether or not the file exists yet, since
// what is written there runs outside of every sandbox. Only a rule that names
// the place lifts the question.
type Obeyed struct {
	Set *sensitive.ObeyedSet
	// Own gives the files and directories that this program itself runs or obeys
	// outside of every sandbox, and those that others obey in the home directory,
	// absolute. Nil: there are none.
	Own func() []string
	// Roots are the granted directories, absolute: names above them say nothing
	// about a file.
	Roots []string
	// Git reads the settings of repositories. Without Read none are read.
	Git gitconfig.Source
	// Base is where relative paths begin, Home what ~ means, Resolve follows links,
	// as for rules.
	Base, Home string
	Resolve    func(path string) (string, error)
	// List lists a directory. Without it links in obeyed directories are not known.
	List func(dir string) (linked.Listing, error)
	// Names is what programs take by its name. Without Writes nothing is.
	Names Names

	seen *sightings // nil: each look is a fresh one
}

// obeyedPlace is a place that a call would write in.
type obeyedPlace struct {
	name string // as people write it
	full string // absolute
	by   string // who obeys it
	file bool   // the call writes it itself, not something in it

	danger sensitive.Danger
}

// rule is what a person may allow to write there.
func (p *obeyedPlace) rule() string {
	if p.file {
		return "write_file(" + p.name + ")"
	}
	return "write_file(" + p.name + "/**)"
}

// writesFiles reports whether a tool may change files by what it declares.
func writesFiles(e toolcrib.Effects) bool {
	return !e.Within(lookOnly | toolcrib.Network | toolcrib.UsesSecrets)
}

// at looks whether a path, by any of its names, is an obeyed place or lies in
// one, as far as its name says. The review is of the call that has it in its input, if one has.
func (o *Obeyed) at(given string, r *toolcrib.Review) *obeyedPlace {
	at := places{base: o.Base, home: o.Home, resolve: o.Resolve, review: r}
	forms := formsOf(given, &at)
	if found := o.atForms(forms, &at); found != nil {
		return found
	}
	return o.byName(forms, nil)
}

func (o *Obeyed) atForms(forms *pathForms, at *places) *obeyedPlace {
	found := o.atAny(forms, at)
	if found != nil {
		found.file = slices.ContainsFunc(forms.exact, func(elems []string) bool { return "/"+strings.Join(elems, "/") == found.full })
	}
	return found
}

func (o *Obeyed) atAny(forms *pathForms, at *places) *obeyedPlace {
	for _, elems := range forms.exact {
		full := "/" + strings.Join(elems, "/")
		below := o.below(full)
		if n, by := o.Set.In(below); n > 0 {
			place, _ := o.Set.Place(below[:n])
			return &obeyedPlace{name: path.Join(below[:n]...), full: "/" + strings.Join(elems[:len(elems)-len(below)+n], "/"), by: by, danger: place.Danger}
		}
	}
	if found := o.own(forms.exact, at); found != nil {
		return found
	}
	for _, elems := range forms.exact {
		if found := o.pointed("/"+strings.Join(elems, "/"), at); found != nil {
			return found
		}
	}
	return nil
}

// own finds what this program runs itself, under all its names.
func (o *Obeyed) own(forms [][]string, at *places) *obeyedPlace {
	if o.Own == nil {
		return nil
	}
	for _, file := range o.ownFiles() {
		names := []string{filepath.ToSlash(file)}
		if target, err := at.real(names[0]); err == nil {
			names = append(names, target)
		}
		for _, elems := range forms {
			if full := "/" + strings.Join(elems, "/"); pathglob.Within(full, names) && !o.Set.Granted(o.below(full)) {
				return &obeyedPlace{name: strings.Join(o.below(full), "/"), full: full, by: "Toolcrib, or another program of yours, runs or obeys it", danger: sensitive.OnOpen}
			}
		}
	}
	return nil
}

func (o *Obeyed) ownFiles() []string {
	if o.seen == nil {
		return o.Own()
	}
	if !o.seen.ownSeen {
		o.seen.own, o.seen.ownSeen = o.Own(), true
	}
	return o.seen.own
}

// Has reports whether a file is obeyed by other programs, so that commands find
// it read-only.
func (o *Obeyed) Has(full string) bool { return o.at(full, nil) != nil }

// At says under which name a file is obeyed by other programs, by whom, and how
// dangerous that is.
func (o *Obeyed) At(full string) (place sensitive.Place, ok bool) {
	if found := o.at(full, nil); found != nil {
		return sensitive.Place{Pattern: found.name, By: found.by, Danger: found.danger}, true
	}
	return sensitive.Place{}, false
}

// below gives the elements of a path after the innermost granted directory.
func (o *Obeyed) below(full string) []string {
	best, rest := "", full
	for _, root := range o.roots() {
		if below, in := pathglob.Here().Below(full, root); in && len(root) > len(best) {
			best, rest = root, below
		}
	}
	return pathglob.Elements(rest)
}

// roots are the granted directories by both their names.
func (o *Obeyed) roots() []string {
	if o.seen != nil && o.seen.roots != nil {
		return o.seen.roots
	}
	at := places{resolve: o.Resolve}
	var out []string
	for _, root := range o.Roots {
		root = filepath.ToSlash(root)
		out = append(out, root)
		if target, err := at.real(root); err == nil && target != root {
			out = append(out, target)
		}
	}
	if o.seen != nil {
		o.seen.roots = out
	}
	return out
}

// pointed looks at every directory around a path that was granted or is a
// repository: at what the links there that others obey lead to, and at what git
// is pointed at.
func (o *Obeyed) pointed(full string, at *places) *obeyedPlace {
	roots := o.roots()
	for dir := path.Dir(full); ; dir = path.Dir(dir) {
		repository := o.Git.Read != nil && o.isRepository(dir)
		if repository || slices.Contains(roots, dir) {
			for _, w := range o.ways(dir, at) {
				if w.leads && pathglob.Within(full, []string{w.target}) {
					return &obeyedPlace{name: w.place.Pattern, full: w.target, by: w.place.By, danger: w.place.Danger}
				}
				if w.place.Dir {
					if found := o.linked(full, w.target, w.place.By, w.place.Danger); found != nil {
						return found
					}
				}
			}
		}
		if repository {
			if found := o.byGit(full, dir, o.pointedAt(dir), at); found != nil {
				return found
			}
		}
		if dir == "/" || dir == "." {
			break
		}
	}
	if o.Git.Read == nil {
		return nil
	}
	return o.byGit(full, "", o.pointedAt(""), at)
}

// obeyedWay is a name in a directory that others obey, and where it leads.
type obeyedWay struct {
	place  sensitive.Place
	target string
	leads  bool // it is a link
}

// ways are the names in a directory that may lead elsewhere: links, and directories with
// links in them.
func (o *Obeyed) ways(dir string, at *places) []obeyedWay {
	look := func() (list []obeyedWay) {
		for _, p := range sensitive.Obeyed() {
			if _, by := o.Set.In(pathglob.Elements(p.Pattern)); by == "" || strings.Contains(p.Pattern, "*") {
				continue
			}
			name := path.Join(dir, p.Pattern)
			target, err := o.leads(name, at)
			if err != nil {
				continue
			}
			w := obeyedWay{p, target, target != name && target != "/"}
			if w.leads || p.Dir && o.List != nil && len(o.linksBelow(target)) > 0 {
				list = append(list, w)
			}
		}
		return list
	}
	if o.seen == nil {
		return look()
	}
	return remembered(o.seen.ways, dir, look)
}

// around looks whether a link that a program made lies on the way to an obeyed place: it
// would give the name of that to a file with a harmless one.
func (o *Obeyed) around(forms *pathForms, r *toolcrib.Review) *obeyedPlace {
	if !r.Change.Link() {
		return nil
	}
	for _, elems := range forms.exact {
		full := "/" + strings.Join(elems, "/")
		below := o.below(full)
		found := &obeyedPlace{name: path.Join(below...), full: full, file: true, danger: sensitive.OnOpen}
		if inner := o.Set.Below(below); len(inner) > 0 && !o.Set.Granted(below) {
			found.by = "it is a link, and other programs obey " + path.Join(append(below[len(below)-1:], inner[0]...)...)
			return found
		}
		for _, file := range o.waysOfGit(full) {
			if pathglob.Within(file, []string{full}) && !o.Set.Granted(o.below(file)) {
				found.by = "it is a link, and git obeys " + path.Base(full) + strings.TrimPrefix(file, full)
				return found
			}
		}
	}
	return nil
}

// waysOfGit are the paths that git is pointed at from the directories around a path.
func (o *Obeyed) waysOfGit(full string) (list []string) {
	if o.Git.Read == nil {
		return nil
	}
	pointed := o.pointedAt("")
	for dir := path.Dir(full); ; dir = path.Dir(dir) {
		if o.isRepository(dir) {
			pointed = slices.Concat(pointed, o.pointedAt(dir))
		}
		if dir == "/" || dir == "." {
			break
		}
	}
	for _, p := range pointed {
		list = append(list, path.Clean(filepath.ToSlash(p.Path)))
	}
	return list
}

// pointedAt is what git is pointed at by the settings of a work tree, or by the
// person's own where there is no directory.
func (o *Obeyed) pointedAt(dir string) []gitconfig.Pointed {
	look := func() []gitconfig.Pointed {
		if dir != "" {
			return o.Git.PointedAt(dir)
		}
		personal, _ := o.Git.Personal("") // what was found
		return personal
	}
	if o.seen == nil {
		return look()
	}
	return remembered(o.seen.pointed, dir, look)
}

// byGit looks at what git is pointed at from a work tree, or from none.
func (o *Obeyed) byGit(full, tree string, list []gitconfig.Pointed, at *places) *obeyedPlace {
	for _, pointed := range list {
		p := filepath.ToSlash(pointed.Path)
		target, err := o.leads(p, at)
		if err != nil {
			target = p
		}
		if o.Set.Granted(o.below(p)) {
			continue
		}
		if pathglob.Within(full, []string{p, target}) && (tree == "" || !pathglob.Within(tree, []string{p, target})) && !slices.ContainsFunc(o.roots(), func(root string) bool { return pathglob.Within(root, []string{p, target}) }) {
			return &obeyedPlace{name: relativeTo(p, tree), full: p, by: "git obeys it", danger: sensitive.OnUse}
		}
		if !pointed.Include {
			if found := o.linked(full, target, "git runs it", sensitive.AfterCommit); found != nil {
				return found
			}
		}
	}
	return nil
}

// leads is where a path leads, by links that lead to what is missing too.
func (o *Obeyed) leads(name string, at *places) (string, error) {
	if o.List == nil {
		return at.real(name)
	}
	look := func() led {
		target, err := linked.Target(filepath.FromSlash(name))
		return led{filepath.ToSlash(target), err}
	}
	if o.seen == nil {
		l := look()
		return l.to, l.err
	}
	l := remembered(o.seen.leads, name, look)
	return l.to, l.err
}

// linked looks whether a link in an obeyed directory leads to a path or to what
// it lies in. One that leads around itself leads to the project.
func (o *Obeyed) linked(full, dir, by string, danger sensitive.Danger) *obeyedPlace {
	if o.List == nil || pathglob.Within(full, []string{dir}) {
		return nil
	}
	for _, l := range o.linksBelow(dir) {
		for _, link := range l.Links {
			target, ok := linked.Obeyed(link)
			link, target = filepath.ToSlash(link), filepath.ToSlash(target)
			if !ok || !pathglob.Within(full, []string{target}) || o.Set.Granted(o.below(target)) {
				continue
			}
			return &obeyedPlace{name: relativeTo(full, o.root(full)), full: target, by: by + " by the link " + shellguard.Quote(relativeTo(link, o.root(link))), danger: danger}
		}
	}
	return nil
}

func (o *Obeyed) linksBelow(dir string) []linked.Listing {
	look := func() []linked.Listing { return linked.Below(filepath.FromSlash(dir), o.List) }
	if o.seen == nil {
		return look()
	}
	return remembered(o.seen.below, dir, look)
}

// root is the innermost granted directory around a path.
func (o *Obeyed) root(full string) string {
	return strings.TrimSuffix(full, strings.Join(append([]string{""}, o.below(full)...), "/"))
}

// isRepository: git would find a repository here, or may.
func (o *Obeyed) isRepository(dir string) bool {
	look := func() bool { return o.looksLikeRepository(dir) }
	if o.seen == nil {
		return look()
	}
	return remembered(o.seen.git, dir, look)
}

func (o *Obeyed) looksLikeRepository(dir string) bool {
	at := places{resolve: o.Resolve}
	name := path.Join(dir, ".git")
	if _, err := o.Git.Read(path.Join(name, "HEAD")); err == nil {
		return true
	}
	_, err := o.Git.Read(name) // a file that says where it is
	if err != nil {
		if target, rerr := at.real(name); rerr == nil && target != name { // a link
			return true
		}
	}
	return err == nil
}

func relativeTo(full, dir string) string {
	if rel, ok := pathglob.Rel(dir, full); ok {
		return filepath.ToSlash(rel)
	}
	return full
}

// obeyed is the verdict on a call that would write an obeyed place; nil if it
// does not, or if a rule that names the place allows it.
func (p *Policy) obeyed(r *toolcrib.Review, said ruleAnswer) *toolcrib.Verdict {
	list, all := p.Obeyed.find(r, &newContent{review: r, unread: p.unread})
	if said.rule != nil && said.decision == toolcrib.Allow {
		list = slices.DeleteFunc(list, func(at *obeyedPlace) bool { return p.Rules.named(said.subject, at, p.Obeyed) })
	}
	switch {
	case len(list) == 0 && !all:
		return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "obeyed", Rule: "floor", Reason: "its input has more paths than are looked at, and other programs may obey one of them; give it fewer at once"}
	case len(list) == 0:
		return nil
	}
	found, others := list[0], ""
	if len(list) > 1 {
		others = ". The call writes more files that other programs obey: " + namesOf(list[1:])
	}
	return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "obeyed", Rule: "floor", Reason: fmt.Sprintf(
		"%s: %s later, outside of the sandbox, so writing it is asked about in every mode; to allow it for good, add a rule that names it to permissions.allow, such as %s, or list it in grant.unprotected%s",
		shellguard.Quote(found.name), found.by, found.rule(), others)}
}

// maxNamed is how many further places a question names.
const maxNamed = 10

// namesOf names places, the most dangerous first as they come, and counts the rest.
func namesOf(list []*obeyedPlace) string {
	var names []string
	for _, at := range list[:min(len(list), maxNamed)] {
		names = append(names, shellguard.Quote(at.name))
	}
	if more := len(list) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// named: an allow of a layer that may give means the call and names the place.
// One that allows all of a project was not written with this in mind.
func (r *Rules) named(s *subject, at *obeyedPlace, o *Obeyed) bool {
	if r == nil || s == nil {
		return false
	}
	for _, l := range r.layers {
		if !l.Rank.gives() || !l.applies(s.review.Call.Caller) {
			continue
		}
		if l.allow.first(s, func(p *permission) bool { return p.kind == specPath && p.path.inside(at, o) && p.allows(s) }) != nil {
			return true
		}
	}
	return false
}

// inside: every way to read the pattern begins inside the place.
func (s *pathSpec) inside(at *obeyedPlace, o *Obeyed) bool {
	return len(s.exact) > 0 && !slices.ContainsFunc(s.exact, func(g pathglob.Glob) bool {
		full := "/" + strings.Join(g[:g.Fixed()], "/")
		if pathglob.Within(full, []string{path.Clean(at.full)}) {
			return false
		}
		n, _ := o.Set.In(o.below("/" + strings.Join(g, "/")))
		return n == 0
	})
}
