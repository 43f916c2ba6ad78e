package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// Entry is one name in a directory.
type Entry struct {
	Name string
	Type fs.FileMode // type bits only, of the entry itself: links are not followed
	As   string      // for visit to set: the name by which it is ordered; empty: its own

	barred bool // protected; only our own search for such gets to see it
}

// Folder is one directory on a [Handle.Walk].
type Folder struct {
	Path   string  // from the start of the walk, with slashes; "." is the start
	Parent *Folder // nil for the start
	// Entries is what it holds, without what is protected, in no order. The
	// directories that visit leaves here are walked.
	Entries []Entry
	// Err says why it could not be read; there are no entries then.
	Err error
	// Value is for visit to leave something: emit finds it, and the visits of
	// the folders below.
	Value any

	walk   *walk
	dir    openDir
	refs   atomic.Int32 // who still needs dir
	left   atomic.Int32 // what is still to be done before emit
	done   chan struct{}
	kids   []*Folder
	elems  []string // its whole real path
	as     string   // the name by which it is ordered
	depth  int
	inGit  bool // below a directory named .git, or one itself
	git    bool // that, or a Git directory by what it holds
	barred bool
}

// Open opens a regular file of this folder for reading. It is for use in
// visit and in what visit put off with Later.
func (d *Folder) Open(name string) (*Stream, error) {
	if name == "" || name == "." || name == ".." || strings.IndexByte(name, '/') >= 0 || strings.IndexByte(name, filepath.Separator) >= 0 {
		return nil, failure(name, "only a file of the folder itself can be opened", fs.ErrInvalid)
	}
	if _, runs := gitPart(name); runs && d.git || d.bars(name) || runtime.GOOS == "windows" && shortName(name) {
		return nil, protected(path.Join(d.Path, name))
	}
	s, err := d.dir.open(d.walk.f, name)
	if err != nil {
		return nil, told(path.Join(d.Path, name), err)
	}
	return s, nil
}

// Later has work on this folder done by any of the walk's goroutines, before
// emit. It is for use in visit only.
func (d *Folder) Later(work func() error) {
	d.refs.Add(1)
	d.left.Add(1)
	d.walk.push(walkJob{d, work})
}

// bars judges an entry by its name and place.
func (d *Folder) bars(name string) bool {
	f := d.walk.f
	if len(f.denied) > 0 && f.denied.Has(append(slices.Clip(d.elems), name)) {
		return true
	}
	if name != "" && f.leads().may(name) && f.leads().find(append(slices.Clip(d.elems), name), nil, false, func(as string) bool { return d.dir.holdsKey(name, as) }) != nil {
		return true
	}
	if d.barred || name == "" || !d.walk.near && !f.guard.list.May(name) {
		return d.barred
	}
	elems := append(slices.Clip(d.elems), name)
	switch f.guard.list.Judge(elems) {
	case sensitive.Closed:
		return true
	case sensitive.Keyed:
		if d.dir.holdsKey(name, name) {
			return true
		}
	}
	return d.walk.near && f.places().bar(elems)
}

// drop gives up the use of the open directory, finish a part of the work.
func (d *Folder) drop() {
	if d.refs.Add(-1) == 0 {
		d.dir.close()
	}
}

func (d *Folder) finish() {
	if d.left.Add(-1) == 0 {
		close(d.done)
	}
}

// walk is one walk through a tree.
type walk struct {
	f     *Handle
	visit func(*Folder) error
	all   bool // see what is protected too
	near  bool // some protected place may lie in the tree

	mu   sync.Mutex
	wake sync.Cond
	jobs []walkJob // a stack: so few directories are open at a time, and the first in order come first
	busy int
	over chan struct{} // closed at the end
	err  error         // why it ended early
}

// walkJob is a folder to open and visit, or work put off on one that is open.
type walkJob struct {
	folder *Folder
	work   func() error
}

const (
	maxFolders = 1024 // in each other: all on the way down are held open
	maxWalkers = 8
)

// Walk goes through a directory and all below it. It never follows a link, so
// it stays in the tree it began in. visit is called for every folder, from
// several goroutines at once; emit, if given, from one, in the same order
// every time: a folder before those below it, these by name. fs.SkipAll from
// either ends the walk without an error.
func (f *Handle) Walk(ctx context.Context, name string, visit, emit func(*Folder) error) error {
	return f.walk(ctx, name, &walk{visit: visit}, emit)
}

func (f *Handle) walk(ctx context.Context, name string, w *walk, emit func(*Folder) error) error {
	start := &Folder{Path: ".", walk: w}
	err := f.at(name, aim{}, func(s *spot) error {
		if s.base != "." {
			if !s.info.IsDir() {
				return failure(name, "it is not a directory", fs.ErrInvalid)
			}
			if err := s.descend(s.base); err != nil {
				return err
			}
		}
		elems := s.here().elems("")
		start.elems = elems[:len(elems)-1]
		start.inGit = slices.ContainsFunc(start.elems, isGit)
		var err error
		start.dir, err = startDir(s.here().root)
		return err
	})
	if err != nil {
		return err
	}
	w.f, w.wake.L, w.over = f, &w.mu, make(chan struct{})
	w.near = f.places().near(start.elems)
	start.begin()
	w.jobs = []walkJob{{folder: start}}
	stop := context.AfterFunc(ctx, func() { w.end(ctx.Err()) })
	defer stop()
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxWalkers) {
		workers.Go(w.run)
	}
	func() {
		defer workers.Wait()
		if emit != nil {
			defer func() {
				if p := recover(); p != nil {
					w.end(walkPanic{p})
				}
			}()
			w.inOrder(start, emit)
		}
	}()
	for _, j := range w.jobs { // what an early end left
		if j.work != nil || j.folder.Parent == nil {
			j.folder.drop()
		} else {
			j.folder.Parent.drop()
		}
	}
	w.mu.Lock() // a late end of the context may still be on its way
	defer w.mu.Unlock()
	if p, ok := errors.AsType[walkPanic](w.err); ok {
		panic(p.value)
	}
	switch {
	case errors.Is(w.err, fs.SkipAll):
		return nil
	case w.err == nil:
		return ctx.Err()
	}
	return w.err
}

// walkPanic carries a panic of visit or emit to the goroutine that called
// Walk: there someone may be ready for it, elsewhere it ends the process.
type walkPanic struct{ value any }

func (walkPanic) Error() string { return "panic" }

func (d *Folder) begin() {
	d.done = make(chan struct{})
	d.refs.Store(1)
	d.left.Store(1)
}

// inOrder hands the folders to emit as they are done.
func (w *walk) inOrder(start *Folder, emit func(*Folder) error) {
	for next := []*Folder{start}; len(next) > 0; {
		d := next[len(next)-1]
		next = next[:len(next)-1]
		select {
		case <-d.done:
		case <-w.over:
			return
		}
		if err := emit(d); err != nil {
			w.end(err)
			return
		}
		for _, kid := range slices.Backward(d.kids) {
			next = append(next, kid)
		}
		d.kids, d.Entries = nil, nil
	}
}

func (w *walk) push(jobs ...walkJob) {
	w.mu.Lock()
	w.jobs = append(w.jobs, jobs...)
	w.mu.Unlock()
	if len(jobs) == 1 {
		w.wake.Signal()
	} else {
		w.wake.Broadcast()
	}
}

// end stops the walk; the first reason counts.
func (w *walk) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
		close(w.over)
	}
	w.wake.Broadcast()
}

// run is one of the walk's goroutines.
func (w *walk) run() {
	buf := make([]byte, 32<<10)
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.jobs) == 0 && w.busy > 0 && w.err == nil {
			w.wake.Wait()
		}
		if len(w.jobs) == 0 || w.err != nil {
			w.wake.Broadcast()
			return
		}
		j := w.jobs[len(w.jobs)-1]
		w.jobs = w.jobs[:len(w.jobs)-1]
		w.busy++
		w.mu.Unlock()
		err := w.do(j, buf)
		j.folder.drop()
		j.folder.finish()
		if err != nil {
			w.end(err)
		}
		w.mu.Lock()
		w.busy--
	}
}

func (w *walk) do(j walkJob, buf []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = walkPanic{p}
		}
	}()
	if j.work != nil {
		return j.work()
	}
	d := j.folder
	if d.Parent != nil {
		d.dir, d.Err = d.Parent.dir.openDir(path.Base(d.Path))
		d.Parent.drop()
	}
	if d.Err == nil {
		d.Entries, d.Err = w.read(d, buf)
	}
	d.Err = told(d.Path, d.Err)
	if err := w.visit(d); err != nil {
		return err
	}
	for _, e := range d.Entries {
		if e.Type.IsDir() {
			d.kids = append(d.kids, d.kid(e))
		}
	}
	if len(d.kids) == 0 {
		return nil
	}
	slices.SortFunc(d.kids, func(a, b *Folder) int {
		return cmp.Or(strings.Compare(b.as, a.as), strings.Compare(b.Path, a.Path))
	})
	jobs := make([]walkJob, len(d.kids))
	for i, kid := range d.kids {
		jobs[i].folder = kid
	}
	slices.Reverse(d.kids)
	d.refs.Add(int32(len(jobs)))
	w.push(jobs...)
	return nil
}

func (d *Folder) kid(e Entry) *Folder {
	kid := &Folder{
		Path: e.Name, Parent: d, walk: d.walk, elems: append(slices.Clip(d.elems), e.Name), depth: d.depth + 1,
		inGit: d.inGit || isGit(e.Name), barred: e.barred, as: cmp.Or(e.As, e.Name),
	}
	if d.Path != "." {
		kid.Path = d.Path + "/" + e.Name
	}
	kid.begin()
	return kid
}

// read lists a folder and leaves out what is protected.
func (w *walk) read(d *Folder, buf []byte) ([]Entry, error) {
	if d.depth > maxFolders {
		return nil, failure(d.Path, "it lies too deep", nil)
	}
	if d.depth > 0 && !w.all && d.dir.in(w.f.places().idSet) {
		return nil, protected(d.Path)
	}
	entries, err := d.dir.read(buf)
	if err != nil {
		return nil, err
	}
	var parts gitParts
	found := false
	for i := range entries {
		part, _ := gitPart(entries[i].Name)
		parts |= part
		entries[i].barred = d.bars(entries[i].Name)
		found = found || entries[i].barred
	}
	d.git = d.inGit || parts.whole()
	for i := range entries {
		if _, runs := gitPart(entries[i].Name); d.git && runs {
			entries[i].barred, found = true, true
		}
	}
	if found && !w.all {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.barred })
	}
	return entries, nil
}
