package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/refusal"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// A protected name may be a link: .env to conf/dev, .kube to k8s. What it leads
// to is the same file under another name, so it is as much out of reach. So is
// what the links in a protected place lead to, as ~/.ssh/config to one of the
// dotfiles that are worked on, or .aws/credentials to store/cr.

// lead is such a link, and where it leads.
type lead struct {
	link   []string         // its path
	shown  string           // its path, for people
	entry  string           // what lifts it in grant.unprotected
	target string           // where it leads
	way    []string         // folded elements of that
	info   fs.FileInfo      // of what is there; nil: nothing
	answer sensitive.Answer // Open: only some of what lies in it is protected, by the link's name before its own
	many   bool             // it stands for too many
	rule   bool             // it is denied by rules, not protected
	// written: rules deny only to write what it leads to.
	written bool
}

// leads is all of them.
type leads struct {
	idSet
	list *sensitive.List
	last map[string][]*lead // by the last element of the way
	over []*lead            // to directories of which only parts are protected
	via  map[string]*lead   // links that they lead through, by path
	full *lead              // one of more than can be followed

	followed int     // links of protected names
	dirs     []*lead // to directories, in which there may be further links

	ruled         []*lead // to directories of which rules deny parts
	denied, fixed pathglob.Set
}

// maxLeads bounds how many links are followed for each call. A command could
// make more, so that a person's own would be passed over.
const maxLeads = 4096

// findLeads follows the links of protected names in the granted directories, and
// in those that these were narrowed from.
func (f *Handle) findLeads() *leads {
	l := &leads{list: f.guard.list, last: map[string][]*lead{}, via: map[string]*lead{}}
	var tops []string
	for _, t := range f.trees {
		tops = append(tops, t.realPath())
	}
	for _, dir := range f.within {
		tops = append(tops, realPath(dir))
	}
	tops = slices.DeleteFunc(tops, func(top string) bool { return top == "" })
	base := realPath(f.base)
	for _, link := range f.guard.links.Links(tops...) {
		elems := pathglob.Elements(link)
		answer, by := judgeAll(l.list, elems)
		l.follow(&lead{link: elems, shown: nameFrom(base, link), entry: by, answer: answer}, link, tops)
	}
	f.followInner(l, tops)
	if l.full != nil {
		return l
	}
	f.followOuter(l, tops, base)
	f.followRules(l, tops, base)
	return l
}

// followOuter takes up where the links in protected places lead.
func (f *Handle) followOuter(l *leads, tops []string, base string) {
	whole := []string{base}
	for _, dir := range f.within {
		whole = append(whole, realPath(dir))
	}
	if len(f.within) == 0 {
		whole = append(whole, tops...)
	}
	for _, led := range f.guard.outer.Into(tops, whole) {
		entry := filepath.ToSlash(nameFrom(base, led.Target))
		l.take(&lead{link: pathglob.Elements(led.Link), shown: led.Link, entry: entry, answer: sensitive.Closed}, led.Target, led.Through)
	}
}

// follow takes up where a link leads, if that lies in a granted directory and
// does not hold the link itself: that would be the project, and no part of it.
func (l *leads) follow(to *lead, link string, tops []string) {
	if !to.rule {
		if l.followed++; l.followed > maxLeads {
			to.many, l.full = true, to
			return
		}
	}
	at, rest, through, err := linked.Trace(link)
	if err != nil {
		return
	}
	target := filepath.Join(at, filepath.Join(rest...))
	if pathglob.Inside(filepath.Dir(link), target) || !slices.ContainsFunc(tops, func(top string) bool { return top != target && pathglob.Inside(target, top) }) {
		return
	}
	l.take(to, target, through)
}

// take has a link lead to what lies at a target, unless a person excepted that.
func (l *leads) take(to *lead, target string, through []string) {
	if !to.rule && l.list.Excepted(pathglob.Elements(target)) {
		return
	}
	var err error
	if to.info, err = os.Lstat(target); err != nil {
		to.info = nil
	}
	to.target, to.way = target, folded(pathglob.Elements(target))
	dir := to.info != nil && to.info.IsDir()
	switch {
	case to.answer == sensitive.Open && dir && to.rule:
		l.ruled = append(l.ruled, to)
	case to.answer == sensitive.Open && dir:
		l.over = append(l.over, to)
	case to.answer == sensitive.Open, to.answer == sensitive.Keyed && dir:
		return
	default:
		last := to.way[len(to.way)-1]
		l.last[last] = append(l.last[last], to)
		if to.info != nil {
			l.add(to.info)
		}
	}
	if dir && !to.rule {
		l.dirs = append(l.dirs, to)
	}
	for _, link := range through {
		if key := strings.Join(pathglob.Elements(link), "/"); l.via[key] == nil || l.via[key].written {
			l.via[key] = to
		}
	}
}

func (l *leads) any() bool { return len(l.last)+len(l.over)+len(l.ruled) > 0 || l.full != nil }

// may is quick, and a no is certain for an entry of a directory that was judged.
func (l *leads) may(name string) bool {
	return l.any() && (l.full != nil || len(l.ruled) > 0 || len(l.last[foldName(name)]) > 0 || len(l.over) > 0 && l.list.May(name))
}

// find gives the link that leads to an entry, or to a directory that it lies in.
// info may be nil; write: it would be written; holds judges what the entry holds by
// the name of a link.
func (l *leads) find(elems []string, info fs.FileInfo, write bool, holds func(as string) bool) *lead {
	if !l.any() {
		return nil
	}
	if l.full != nil && (write || !l.full.written) {
		return l.full
	}
	fold := folded(elems)
	for i, elem := range fold {
		for _, to := range l.last[elem] {
			if slices.Equal(to.way, fold[:i+1]) && (write || !to.written) && (to.answer == sensitive.Closed || i == len(fold)-1 && to.keeps(holds)) {
				return to
			}
		}
	}
	for _, to := range l.over {
		if n := len(to.way); n < len(fold) && slices.Equal(to.way, fold[:n]) {
			if part := l.part(to, elems[n:], holds); part != nil {
				return part
			}
		}
	}
	if part := l.ruledPart(fold, elems, write); part != nil {
		return part
	}
	if info == nil || !l.has(info) {
		return nil
	}
	return l.known(func(to *lead) bool { return (write || !to.written) && os.SameFile(to.info, info) }, holds)
}

// part judges what lies in a directory by the name of the link to it.
func (l *leads) part(to *lead, below []string, holds func(as string) bool) *lead {
	for i := range below {
		path := slices.Concat(to.link, below[:i+1])
		rest := strings.Join(below[:i+1], "/")
		part := &lead{link: path, shown: filepath.Join(to.shown, rest), entry: to.entry + "/" + rest, answer: l.list.Judge(path)}
		if part.answer == sensitive.Closed || part.answer == sensitive.Keyed && i == len(below)-1 && part.keeps(holds) {
			return part
		}
	}
	return nil
}

// known finds a link by what is there where it leads.
func (l *leads) known(is func(*lead) bool, holds func(as string) bool) *lead {
	for _, list := range l.last {
		for _, to := range list {
			if to.info != nil && is(to) && (to.answer == sensitive.Closed || to.keeps(holds)) {
				return to
			}
		}
	}
	return nil
}

// keeps: it leads to a key.
func (to *lead) keeps(holds func(as string) bool) bool {
	return to.answer == sensitive.Keyed && holds != nil && holds(to.link[len(to.link)-1])
}

// led refuses an entry that a protected link leads to. It comes last, since the
// first in a call has the links looked up.
func (s *spot) led(base string, info fs.FileInfo) error {
	l, all := s.here(), s.f.leads()
	if !all.any() {
		return nil
	}
	elems := l.elems(base)
	if base == "." {
		elems = elems[:len(elems)-1]
	}
	var to *lead
	if info != nil && info.Mode()&fs.ModeSymlink != 0 {
		// Who could take away a link on the way would have it lead elsewhere.
		if to = all.via[strings.Join(elems, "/")]; to != nil && to.written && !s.to.write {
			to = nil
		}
	} else {
		to = all.find(elems, info, s.to.write, func(as string) bool { return holdsKey(l.root, base, as) })
	}
	if to == nil {
		return nil
	}
	return to.refuse(s.name)
}

// refuse names the link: a command could have made one that is a nuisance.
func (to *lead) refuse(name string) error {
	switch {
	case to.rule && to.many && to.written:
		return refusal.New(refusal.Unavailable, fmt.Sprintf("files can only be read: there are more than %d links in what rules deny to be written, such as %s, and what they lead to is denied too; "+
			"remove them, or have the rule mean less", maxLeads, shown(to.shown)), ErrProtected)
	case to.rule && to.many:
		return refusal.New(refusal.Unavailable, fmt.Sprintf("files cannot be used: there are more than %d links in what rules deny, such as %s, and what they lead to is denied too; "+
			"remove them, or have the rule mean less", maxLeads, shown(to.shown)), ErrProtected)
	case to.rule:
		return refusal.New(refusal.Denied, fmt.Sprintf("%s is out of reach: a rule denies %s, which leads to it by a link", shown(name), shown(to.shown)), ErrProtected)
	}
	if to.many {
		return refusal.New(refusal.Unavailable, fmt.Sprintf("files cannot be used: there are more than %d links of protected names in the granted directories, such as %s, and what they lead to is protected too; "+
			"remove them, or list their names in grant.unprotected", maxLeads, shown(to.shown)), ErrProtected)
	}
	return refusal.New(refusal.Denied, fmt.Sprintf("%s is protected and stays out of reach: the protected name %s leads to it by a link (remove the link, or list %s in grant.unprotected)",
		shown(name), shown(to.shown), shown(to.entry)), ErrProtected)
}
