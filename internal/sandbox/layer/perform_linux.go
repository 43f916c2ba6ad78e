package layer

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// performer carries out steps, and turns them round.
type performer struct {
	rec     *record
	roots   []int // of the live trees
	stages  []int
	devices []uint64 // of the live trees

	restored map[restored]bool // what undo has put back

	taken func() // for tests: something was taken out of the tree, and was not looked at yet
	aside nearby
}

func openPerformer(rec *record) (*performer, error) {
	p, err := openLive(rec)
	if err != nil {
		return nil, err
	}
	for _, t := range rec.Trees {
		stage, err := openRoot(t.Stage)
		if err != nil {
			p.close()
			return nil, err
		}
		p.stages = append(p.stages, stage)
	}
	return p, nil
}

// openLive opens what is live only, to be looked at.
func openLive(rec *record) (*performer, error) {
	p := &performer{rec: rec}
	for _, t := range rec.Trees {
		root, err := openRoot(t.Root)
		if err != nil {
			p.close()
			return nil, err
		}
		p.roots = append(p.roots, root)
		var st unix.Stat_t
		if err := unix.Fstat(root, &st); err != nil {
			p.close()
			return nil, fmt.Errorf("looking at %s: %w", t.Root, err)
		}
		p.devices = append(p.devices, entryOf(&st).id.Device)
	}
	return p, nil
}

func (p *performer) close() {
	p.aside.end()
	for _, fd := range append(p.roots, p.stages...) {
		_ = unix.Close(fd) // nothing was written through it
	}
	p.roots, p.stages = nil, nil
}

// sync has everything on the disk, with one call for each file system: what is renamed
// from a stage lies on that of its root.
func (p *performer) sync() error {
	synced := map[uint64]bool{}
	for i, fd := range p.roots {
		if synced[p.devices[i]] {
			continue
		}
		synced[p.devices[i]] = true
		if err := unix.Syncfs(fd); err != nil {
			return fmt.Errorf("flushing the disk: %w", err)
		}
	}
	return nil
}

// at opens the directories of a step. The caller closes both.
func (p *performer) at(st *step) (live, aside place, err error) {
	aside = place{-1, filepath.Base(st.Aside)}
	if live, err = p.liveAt(st); err != nil || st.Aside == "" {
		return live, aside, err
	}
	if aside.dir, err = p.aside.at(p.stages, st.Tree, filepath.Dir(st.Aside)); err != nil {
		letGo(live)
		return live, aside, fmt.Errorf("opening what is put to %s: %w", p.path(st), err)
	}
	return live, aside, nil
}

// liveAt opens the live directory of a step.
func (p *performer) liveAt(st *step) (live place, err error) {
	live = place{-1, filepath.Base(st.Live)}
	if st.Live == "" { // the top itself, of which only the mode can change
		live.name = "."
	}
	if live.dir, err = openBelow(p.roots[st.Tree], filepath.Dir(st.Live)); err != nil {
		return live, fmt.Errorf("opening the directory of %s: %w", p.path(st), err)
	}
	return live, nil
}

func (p *performer) path(st *step) string { return filepath.Join(p.rec.Trees[st.Tree].Root, st.Live) }

func (p *performer) closeBoth(live, aside place) {
	letGo(live)
	p.aside.let(aside.dir)
}

// letGo closes a live directory. Each step opens it anew, since somebody may have moved it.
func letGo(live place) {
	if live.dir >= 0 {
		_ = unix.Close(live.dir) // it was only used to name things
	}
}

// nearby has the directory of the stage open that the last step was in, since many in a row
// are in one, and nobody else works there.
type nearby struct {
	fd, tree int
	rel      string
	open     bool
	used     bool // by a step
}

// at opens a directory below one of the tops; let gives it back.
func (n *nearby) at(tops []int, tree int, rel string) (int, error) {
	if n.used {
		return openBelow(tops[tree], rel)
	}
	if n.open && n.tree == tree && n.rel == rel {
		n.used = true
		return n.fd, nil
	}
	n.end()
	fd, err := openBelow(tops[tree], rel)
	if err == nil {
		*n = nearby{fd: fd, tree: tree, rel: rel, open: true, used: true}
	}
	return fd, err
}

func (n *nearby) let(fd int) {
	if n.used && fd == n.fd {
		n.used = false
		return
	}
	if fd >= 0 {
		_ = unix.Close(fd) // it was only used to name things
	}
}

// end closes what is open.
func (n *nearby) end() {
	if n.open {
		_ = unix.Close(n.fd) // it was only used to name things
	}
	*n = nearby{}
}

// asExpected tells whether what is live is still what was judged. A step in a
// directory that an earlier step makes cannot be looked at yet.
func (p *performer) asExpected(st *step) (bool, error) {
	if st.made {
		return true, nil
	}
	live, err := p.liveAt(st)
	if errors.Is(err, unix.ENOENT) {
		return st.Old == identity{}, nil
	}
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EXDEV) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer letGo(live)
	now, err := live.entry()
	if err != nil {
		return false, err
	}
	if len(st.before) == 0 {
		return !now.Exists(), nil
	}
	if was := st.before[0].entry; was.Mode.IsDir() {
		return now.id == was.id && now.Mode == was.Mode, nil // what is in it is looked at when it was taken
	} else if !was.same(now) {
		return false, nil
	}
	return true, nil
}

// do carries out a step.
func (p *performer) do(st *step) error {
	live, aside, err := p.at(st)
	if err != nil {
		return err
	}
	defer p.closeBoth(live, aside)
	conflict := &ConflictError{Paths: []string{p.path(st)}}
	switch st.Action {
	case put:
		if err := rename(aside, live, unix.RENAME_NOREPLACE); errors.Is(err, unix.EEXIST) {
			return conflict
		} else if err != nil {
			return fmt.Errorf("putting %s in place: %w", p.path(st), err)
		}
		return nil
	case take, swap:
		flags, word := uint(unix.RENAME_NOREPLACE), "taking away"
		if st.Action == swap {
			flags, word = unix.RENAME_EXCHANGE, "replacing"
		}
		if err := rename(live, aside, flags); errors.Is(err, unix.ENOENT) {
			return conflict
		} else if err != nil {
			return fmt.Errorf("%s %s: %w", word, p.path(st), err)
		}
		if p.taken != nil {
			p.taken()
		}
		// Only now nobody else can change it any more by its name.
		same, err := takenAsListed(aside, st.before)
		if err == nil && same {
			return nil
		}
		if err == nil {
			err = conflict
		}
		return errors.Join(err, p.giveBack(st, live, aside, flags))
	case mode:
		return p.chmod(live, st.Old, st.OldMode, st.NewMode, conflict)
	}
	return fmt.Errorf("a step %q is not known", st.Action)
}

// giveBack puts back what was taken out of the tree and is not what was expected. If
// somebody has put something there meanwhile, that stays, and what was taken lies aside.
func (p *performer) giveBack(st *step, live, aside place, flags uint) error {
	err := rename(aside, live, flags)
	if err == nil && flags == unix.RENAME_NOREPLACE {
		return nil
	}
	if err == nil {
		var now Entry
		if now, err = aside.entry(); err == nil && now.is(st.New) {
			return nil
		}
		err = errors.Join(err, rename(aside, live, flags), errChanged)
	}
	return fmt.Errorf("%w: putting %s back: %w", ErrStuck, p.path(st), err)
}

// chmod changes the permissions of a file that is known by its identity.
func (p *performer) chmod(at place, id identity, before, after uint32, conflict error) error {
	fd, err := unix.Openat(at.dir, at.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return conflict
	}
	if err != nil {
		return fmt.Errorf("opening %q: %w", at.name, err)
	}
	defer unix.Close(fd) //nolint:errcheck // it was only used to name a file
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("looking at %q: %w", at.name, err)
	}
	if now := entryOf(&st); !now.is(id) || unixMode(now.Mode) != before {
		return conflict
	}
	if err := unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), after); err != nil {
		return fmt.Errorf("changing the permissions of %q: %w", at.name, err)
	}
	return nil
}

// rename moves, without following links. A directory that its owner cannot write
// cannot get another parent, so that it is made writable meanwhile.
func rename(from, to place, flags uint) error {
	err := unix.Renameat2(from.dir, from.name, to.dir, to.name, flags)
	if !errors.Is(err, unix.EACCES) {
		return err
	}
	var again []func()
	for _, at := range []place{from, to} {
		e, lookErr := at.entry()
		if lookErr != nil || !e.Mode.IsDir() || e.Mode.Perm()&0o200 != 0 {
			continue
		}
		if unix.Fchmodat(at.dir, at.name, unixMode(e.Mode)|0o700, 0) != nil {
			continue
		}
		back := unixMode(e.Mode)
		again = append(again, func() {
			for _, now := range []place{from, to} {
				if is, err := now.entry(); err == nil && is.id == e.id {
					_ = unix.Fchmodat(now.dir, now.name, back, 0) // the rename counts, whatever becomes of this
				}
			}
		})
	}
	if len(again) == 0 {
		return err
	}
	err = unix.Renameat2(from.dir, from.name, to.dir, to.name, flags)
	for _, f := range again {
		f()
	}
	return err
}

// takenAsListed tells whether what was taken out of the tree is what was judged,
// with nothing more in it.
func takenAsListed(at place, list []listed) (bool, error) {
	if len(list) == 0 {
		return false, nil
	}
	now, err := at.entry()
	if err != nil || !list[0].entry.moved(now) {
		return false, err
	}
	if !now.Mode.IsDir() {
		return true, nil
	}
	dir, err := openOwn(at)
	if err != nil {
		return false, err
	}
	defer unix.Close(dir) //nolint:errcheck // it was only read
	expected := make(map[string]Entry, len(list))
	for _, l := range list[1:] {
		expected[l.rel] = l.entry
	}
	same, err := sameTree(dir, "", expected)
	return same && len(expected) == 0, err
}

// sameTree strikes off what it finds.
func sameTree(dir int, rel string, expected map[string]Entry) (bool, error) {
	list, err := names(dir)
	if err != nil {
		return false, err
	}
	for _, name := range list {
		at, path := place{dir, name}, filepath.Join(rel, name)
		now, err := at.entry()
		if err != nil {
			return false, err
		}
		was, known := expected[path]
		if !known || was.id != now.id || was.Mode != now.Mode || !was.Mode.IsDir() && !was.ctime.Equal(now.ctime) {
			return false, nil
		}
		delete(expected, path)
		if !now.Mode.IsDir() {
			continue
		}
		inner, err := openOwn(at)
		if err != nil {
			return false, err
		}
		same, err := sameTree(inner, path, expected)
		if err = errors.Join(err, unix.Close(inner)); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}
