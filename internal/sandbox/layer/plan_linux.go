package layer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// planner turns accepted changes into steps.
type planner struct {
	set      *Set
	accepted map[string]bool // by path
	below    map[string]int  // how many changes of a set lie in a directory
	chosen   map[string]int  // and how many of these were accepted
	links    map[string]link // what becomes a further name of a live file, by path
	apart    map[string]bool // directories that have one of these
	rec      *record
	modes    []step
	made     int         // names in the old directory
	trees    map[int]int // where a tree stands in the record
}

// plan makes the steps. Parents come before what is in them, and what is removed
// as a whole is one step. What has to be made beside the trees is made.
func (s *Set) plan(accept func(Change) bool, made *stages) (*record, error) {
	p := &planner{set: s, accepted: map[string]bool{}, below: map[string]int{}, chosen: map[string]int{}, trees: map[int]int{}, links: map[string]link{}, apart: map[string]bool{}, rec: &record{Version: recordVersion}}
	for _, c := range s.Changes {
		yes := accept(c)
		p.accepted[c.Path] = yes
		root := s.trees[c.tree].Root
		for dir := c.Path; len(dir) > len(root); { // [filepath.Dir] would look at all of a long path for each of its directories
			dir = dir[:max(len(root), strings.LastIndexByte(dir, '/'))]
			if p.below[dir]++; yes {
				p.chosen[dir]++
			}
		}
	}
	for _, l := range s.links(accept) {
		c := s.Changes[l.change]
		p.links[c.Path] = l
		for dir, root := c.Path, s.trees[c.tree].Root; len(dir) > len(root); p.apart[dir] = true {
			dir = dir[:max(len(root), strings.LastIndexByte(dir, '/'))]
		}
	}
	for _, c := range s.Changes {
		if _, known := p.trees[c.tree]; known || !p.accepted[c.Path] {
			continue
		}
		tree, err := made.forTree(s.trees[c.tree])
		if err != nil {
			return p.rec, err
		}
		p.trees[c.tree] = len(p.rec.Trees)
		p.rec.Trees = append(p.rec.Trees, tree)
	}
	skip := ""
	for i, c := range s.Changes {
		if skip != "" && strings.HasPrefix(c.Path, skip) {
			continue
		}
		skip = ""
		if !p.accepted[c.Path] {
			continue
		}
		whole, err := p.change(i)
		if err != nil {
			return p.rec, err
		}
		if whole {
			skip = c.Path + "/"
		}
	}
	slices.Reverse(p.modes) // what is in a directory before the directory
	p.rec.Steps = append(p.rec.Steps, p.modes...)
	return p.rec, nil
}

// whole tells whether all that changed in a directory was accepted.
func (p *planner) whole(c Change) bool { return p.below[c.Path] == p.chosen[c.Path] }

// change adds the step of a change; whole says that it covers what is below it.
func (p *planner) change(i int) (whole bool, err error) {
	c := p.set.Changes[i]
	st := step{Tree: p.trees[c.tree], Live: c.rel, Old: c.Before.id, New: c.After.id, NewTime: c.After.mtime.UnixNano(), Aside: filepath.Join(UpperName, c.rel)}
	switch {
	case c.ModeOnly:
		st.Action, st.Aside, st.New = mode, "", c.Before.id
		st.OldMode, st.NewMode = unixMode(c.Before.Mode), unixMode(c.After.Mode)
		st.before = []listed{{"", c.Before}}
		if c.Before.Mode.IsDir() {
			p.modes = append(p.modes, st) // last: it may forbid what is done in there
		} else {
			p.rec.Steps = append(p.rec.Steps, st)
		}
		return false, nil
	case c.Kind == Deleted:
		if c.Before.Mode.IsDir() && !p.whole(c) {
			return false, fmt.Errorf("%s cannot be deleted while something in it is kept: accept or refuse the whole directory", c.Path)
		}
		st.Action, st.New, st.Aside = take, identity{}, p.slot()
		st.before = p.listing(i)
		p.rec.Steps = append(p.rec.Steps, st)
		return true, nil
	}
	whole = true
	if c.After.Mode.IsDir() && (!p.whole(c) || p.apart[c.Path]) {
		whole, st.Empty = false, true
		if st.Aside, st.New, err = p.emptyDir(c); err != nil {
			return false, err
		}
		if now := unixMode(c.After.Mode) | 0o700; now != unixMode(c.After.Mode) { // until it is filled, from the one of the layer
			if err := unix.Chmod(p.set.File(c), now); err != nil {
				return false, err
			}
			p.modes = append(p.modes, step{Tree: st.Tree, Live: c.rel, Action: mode, Old: st.New, New: st.New, OldMode: now, NewMode: unixMode(c.After.Mode), made: true})
		}
	}
	if l, linked := p.links[c.Path]; linked {
		l.aside = p.slot()
		st.link = &l
	}
	st.Action = put
	if c.Before.Exists() {
		if c.Before.Mode.IsDir() && !p.whole(c) {
			return false, fmt.Errorf("%s cannot be replaced while something in it is kept: accept or refuse the whole directory", c.Path)
		}
		st.Action, st.before = swap, p.listing(i)
	}
	p.rec.Steps = append(p.rec.Steps, st)
	return whole, nil
}

// slot is a name that nothing else of this record has.
func (p *planner) slot() string {
	p.made++
	return filepath.Join(oldName, strconv.Itoa(p.made))
}

// emptyDir makes a directory of which only a part is put into place.
func (p *planner) emptyDir(c Change) (aside string, id identity, err error) {
	aside = p.slot()
	path := filepath.Join(p.rec.Trees[p.trees[c.tree]].Stage, aside)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", identity{}, err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", identity{}, err
	}
	if os.Geteuid() == 0 {
		if err := os.Lchown(path, int(c.After.Owner.UID), int(c.After.Owner.GID)); err != nil {
			return "", identity{}, err
		}
	}
	if err := unix.Chmod(path, unixMode(c.After.Mode)|0o700); err != nil {
		return "", identity{}, err
	}
	e, err := place{unix.AT_FDCWD, path}.entry()
	return aside, e.id, err
}

// listing is what was live at a path, with all that was in it, which stands right
// behind it.
func (p *planner) listing(i int) []listed {
	c := p.set.Changes[i]
	out := []listed{{"", c.Before}}
	if !c.Before.Mode.IsDir() {
		return out
	}
	for _, in := range p.set.Changes[i+1:] {
		rel, inside := strings.CutPrefix(in.rel, c.rel+"/")
		if in.tree != c.tree || !inside {
			break
		}
		if in.Before.Exists() {
			out = append(out, listed{rel, in.Before})
		}
	}
	return out
}

// forTree finds the directory that a tree is applied from: that of the layer, or
// a new one on the file system of the tree, since nothing else can be renamed there.
func (s *stages) forTree(t Tree) (recordTree, error) {
	tree := recordTree{Root: t.Root, Stage: t.Dir, dir: t.Dir}
	same, err := sameMount(t.Root, t.Dir)
	if err != nil || same {
		return tree, err
	}
	tree.Temporary = true
	tree.Stage, err = s.beside(t.Root)
	return tree, err
}

// sameMount tells whether files can be renamed between two directories.
func sameMount(a, b string) (bool, error) {
	var one, two unix.Statx_t
	const want = unix.STATX_MNT_ID | unix.STATX_INO
	if err := unix.Statx(unix.AT_FDCWD, a, unix.AT_SYMLINK_NOFOLLOW, want, &one); err != nil {
		return false, fmt.Errorf("looking at %s: %w", a, err)
	}
	if err := unix.Statx(unix.AT_FDCWD, b, unix.AT_SYMLINK_NOFOLLOW, want, &two); err != nil {
		return false, fmt.Errorf("looking at %s: %w", b, err)
	}
	if one.Mask&two.Mask&unix.STATX_MNT_ID == 0 {
		return false, nil
	}
	return one.Mnt_id == two.Mnt_id && one.Dev_major == two.Dev_major && one.Dev_minor == two.Dev_minor, nil
}
