package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/glob"
	"github.com/toolcrib/toolcrib/toolbox/files/internal/grep"
)

// search is one search under way.
type search struct {
	box     *Box
	ctx     context.Context
	files   *files.Handle
	start   string // the directory that is searched, after links
	query   *grep.Query
	pattern *glob.Pattern
	ignore  *ignorer
	limit   int
	context int
	room    int  // bytes of matches that still fit
	binary  bool // what is no text, too
	unicode bool // lines end where Unicode says so
	covered func(r io.Reader, whole func() io.Reader, piece func([]byte) error) error
	screen  *grep.Query // finds something in every file that could have a match; nil: any could

	spare sync.Pool // of *grep.Searcher
	sieve sync.Pool // the same for screen
	found []searchMatch
	more  bool
}

// searched is what the visit of a folder leaves for emit and for those below.
type searched struct {
	shown *naming
	rules *glob.Ignore
	mu    sync.Mutex
	files []fileMatches
}

type fileMatches struct {
	name    string
	matches []grep.Match
}

func (s *search) run(start string) error {
	info, err := s.files.Stat(start)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return s.single(start)
	}
	return s.files.Walk(s.ctx, start, s.visit, s.emit)
}

// single searches one file.
func (s *search) single(name string) (err error) {
	file, info, err := s.files.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	matches, err := s.matches(file, info.Size())
	if err != nil {
		return err
	}
	if err := s.take(filepath.Base(name), matches); !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

// readerAt is a file that is read twice.
type readerAt interface {
	io.Reader
	io.ReaderAt
}

// matches finds the matches in what the caller may see of a file. Nothing of the
// answer may depend on the rest: whoever could search what is hidden would find
// it letter by letter.
func (s *search) matches(stream readerAt, size int64) (_ []grep.Match, err error) {
	if s.covered == nil {
		return s.lines(stream, size)
	}
	var file io.Reader = cancellable{s.ctx, stream}
	whole := func() io.Reader { return cancellable{s.ctx, io.NewSectionReader(stream, 0, math.MaxInt64)} }
	if !s.binary { // most of those are no text, and need not be covered
		head := make([]byte, 8<<10)
		n, err := io.ReadFull(file, head)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || bytes.IndexByte(head[:n], 0) >= 0 {
			return nil, s.ctx.Err()
		}
		file = io.MultiReader(bytes.NewReader(head[:n]), file)
	}
	if size > 0 && size < windowSize {
		var text bytes.Buffer
		err := s.covered(file, whole, func(piece []byte) error {
			_, err := text.Write(piece)
			return err
		})
		if err != nil {
			return nil, err
		}
		return s.lines(&text, 0)
	}
	shown, pieces := io.Pipe()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = pieces.CloseWithError(s.covered(file, whole, func(text []byte) error {
			_, err := pieces.Write(text)
			return err
		}))
	}()
	defer func() { _ = shown.Close(); <-over }() // before the file is closed
	return s.lines(shown, 0)
}

// mayMatch looks whether a file could have a match in what is shown of it, as
// far as that can be told without finding out what is hidden.
func (s *search) mayMatch(r io.Reader, size int64) (bool, error) {
	searcher, ok := s.sieve.Get().(*grep.Searcher)
	if !ok {
		searcher = s.screen.NewSearcher(0)
	}
	defer s.sieve.Put(searcher)
	if s.unicode {
		r, size = &newlines{r: r}, 0
	}
	hit := false
	_, err := searcher.Search(cancellable{s.ctx, r}, size, func(grep.Match) bool {
		hit = true
		return false
	})
	return hit, err
}

// lines finds the matches in one text, one more than are wanted at most.
func (s *search) lines(r io.Reader, size int64) ([]grep.Match, error) {
	searcher, ok := s.spare.Get().(*grep.Searcher)
	if !ok {
		searcher = s.query.NewSearcher(s.context)
	}
	defer s.spare.Put(searcher)
	if s.unicode {
		r, size = &newlines{r: r}, 0
	}
	var matches []grep.Match
	_, err := searcher.Search(cancellable{s.ctx, r}, size, func(m grep.Match) bool {
		matches = append(matches, m)
		return len(matches) <= s.limit
	})
	return matches, err
}

// cancellable ends the reading of a large file with its context.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// batch is how many files of a folder are searched as one piece of work, so
// that a folder with very many keeps all processors busy.
const batch = 64

func (s *search) visit(d *files.Folder) error {
	if d.Err != nil && d.Parent == nil {
		return d.Err
	}
	v, above := &searched{}, (*naming)(nil)
	if d.Parent != nil {
		if up, ok := d.Parent.Value.(*searched); ok {
			v.rules, above = up.rules, up.shown
		}
	}
	var err error
	if v.shown, err = s.box.naming(d, above); err != nil {
		return err
	}
	v.rules = s.ignore.apply(d, v.rules, v.shown)
	d.Value = v
	names := make([]string, 0, len(d.Entries))
	for _, e := range d.Entries {
		if e.Type.IsRegular() && s.pattern.MatchName(v.shown.rel(d, e.Name), v.shown.name(e.Name)) {
			names = append(names, e.Name)
		}
	}
	enter(d, v.shown, everyFolder)
	for len(names) > batch {
		some := names[:batch]
		names = names[batch:]
		d.Later(func() error { return s.all(d, v, some) })
	}
	return s.all(d, v, names)
}

// all searches some files of a folder.
func (s *search) all(d *files.Folder, v *searched, names []string) error {
	for _, name := range names {
		file, err := d.Open(name)
		if err != nil {
			continue // gone, not permitted or protected
		}
		matches, err := s.inFile(d, name, file)
		if err != nil && !errors.Is(err, grep.ErrSlow) {
			err = s.ctx.Err() // a file that cannot be read to its end gives what it gave
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
		if len(matches) > 0 {
			v.mu.Lock()
			v.files = append(v.files, fileMatches{name, matches})
			v.mu.Unlock()
		}
	}
	return nil
}

// inFile searches a file of a folder, after a quick look if that can spare it.
func (s *search) inFile(d *files.Folder, name string, file *files.Stream) ([]grep.Match, error) {
	if s.covered == nil || s.screen == nil {
		return s.matches(file, file.Size)
	}
	if may, err := s.mayMatch(file, file.Size); err != nil || !may {
		return nil, err
	}
	again, err := d.Open(name)
	if err != nil {
		return nil, nil //nolint:nilerr // gone meanwhile
	}
	matches, err := s.matches(again, again.Size)
	return matches, errors.Join(err, again.Close())
}

func (s *search) emit(d *files.Folder) error {
	v, ok := d.Value.(*searched)
	if !ok {
		return nil
	}
	slices.SortFunc(v.files, func(a, b fileMatches) int { return v.shown.compare(a.name, b.name) })
	for _, f := range v.files {
		if err := s.take(path.Join(d.Path, f.name), f.matches); err != nil {
			return err
		}
	}
	v.files = nil
	return nil
}

// take adds matches to the answer as long as there is room.
func (s *search) take(file string, matches []grep.Match) error {
	for _, m := range matches {
		size := len(file) + len(m.Text) + 40
		for _, line := range slices.Concat(m.Before, m.After) {
			size += len(line) + 3
		}
		if s.room -= size; len(s.found) == s.limit || s.room < 0 {
			s.more = true
			return fs.SkipAll
		}
		s.found = append(s.found, searchMatch{File: file, Line: m.Line, Content: m.Text, Before: m.Before, After: m.After})
	}
	return nil
}
