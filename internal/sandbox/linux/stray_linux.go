//go:build amd64 || arm64

package linux

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// A program keeps the directory that it stands in, and the files that it has open,
// also when somebody moves them out of what was granted: it would go on reading
// and changing them wherever they lie by then. Nothing tells of every such move, so
// what the programs have is looked at again and again.
//
// The kernel names it by the mount through which it was reached. What lies outside
// of that mount by now has no name there, and the kernel calls it "/". A cover is
// a mount, too, and so is each of the granted directories, so that such a thing may
// still lie elsewhere in what was granted: then it is found there.

// errStray cannot be mended: nobody can take a directory away from who stands in it.
var errStray = errors.New("it lies outside of what was granted by now, and a program has it")

// The bounds on how often that is looked at: a look may take only so much of the
// time, but for programs that have very much open.
const (
	strayPeriod = 100 * time.Millisecond
	strayShare  = 50
	strayMost   = 2 * time.Second
	strayNames  = 4096

	searchShare = 10 // likewise of a search that found nothing for lack of time
	searchGrows = 10 // how often the next one gets twice as much
)

// strays is what is known of that for one program.
type strays struct {
	moved chan struct{} // something was moved away from the top of what was granted

	mu    sync.Mutex
	names map[string]string // how what programs have was called when it had a name, by the link to it
	place string            // how what was found was called; empty if that is not known
	found bool

	searching sync.Mutex                // for what follows
	kept      map[sandbox.FileID]string // where in what was granted that is which the kernel has no name for
	grown     int                       // how often there was too much to be searched
	later     time.Time                 // no search before that
}

// hint has it looked at soon.
func (s *strays) hint() {
	select {
	case s.moved <- struct{}{}:
	default: // that is about to be done
	}
}

// lookOut ends a program that has something that was moved out of what was
// granted.
func (r *run) lookOut(c *child) {
	for pause, rest := besidePause, strayPeriod; comesBefore(time.After(pause), c.ended); {
		select {
		case <-c.ended:
			return
		case <-r.strays.moved:
		case <-time.After(rest):
		}
		began := time.Now()
		if r.strayUntil(c.ended) {
			_ = c.kill() // or it has ended
			return
		}
		took := time.Since(began)
		pause, rest = max(besidePause, min(took, strayMost)), max(strayPeriod, min(strayShare*took, strayMost))
	}
}

// notes says why a program was ended, if it was.
func (s *strays) notes(grant toolcrib.Grant) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.found {
		return nil
	}
	place := sandbox.Shorten(s.place)
	if place == "" {
		place = "something in " + sandbox.Shorten(grant.Dirs[0].Path)
	}
	return []string{fmt.Sprintf("%s was moved out of what was granted while the program stood in it or had it open. The program was ended, because it could have read and changed it there: start it again", place)}
}

// stray tells whether a program has something that lies outside of what was
// granted, and notes how that was called.
func (r *run) stray() bool { return r.strayUntil(nil) }

// strayUntil is stray with as much time as it takes, for somebody who keeps nobody
// waiting, until the program has ended.
func (r *run) strayUntil(ended <-chan struct{}) bool {
	look := &strayLook{granted: r.isGranted, names: map[string]string{}, links: map[sandbox.FileID]string{}}
	for _, pid := range below(r.pid) {
		look.process("/proc/" + pid)
	}
	r.strays.recall(look)
	if !look.certain && (len(look.links) == 0 || !r.sought(look.links, ended) || len(look.links) == 0) {
		return false
	}
	r.strays.mu.Lock()
	defer r.strays.mu.Unlock()
	r.strays.found = true
	for _, link := range look.links { // of those that are left
		if name := r.strays.names[link]; name != "" && absent(name) && (r.strays.place == "" || len(name) < len(r.strays.place)) { // or it had something else by this number
			r.strays.place = name
		}
	}
	return true
}

// recall notes the names, also those that things had before.
func (s *strays) recall(look *strayLook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, link := range look.links {
		if name := s.names[link]; name != "" {
			look.names[link] = name
		}
	}
	s.names = look.names
}

// isGranted tells whether all that was granted is mounted at a place. Of several
// granted directories a thing may lie in another one by now.
func (r *run) isGranted(point string) bool {
	count := 0
	for _, b := range r.job.binds {
		if b.strict {
			count++
		}
	}
	return count == 1 && slices.ContainsFunc(r.job.binds, func(b bind) bool { return b.strict && b.target == point })
}

// sought takes away those of things without a name that are found in what was
// granted, and tells whether the rest lies outside. Otherwise there was too much to
// be searched: then that is known later, by a search that gets more.
func (r *run) sought(links map[sandbox.FileID]string, ended <-chan struct{}) bool {
	if !r.strays.searching.TryLock() {
		return false // somebody is about to find out
	}
	defer r.strays.searching.Unlock()
	began, s := time.Now(), newSearch()
	if ended != nil {
		s.until, s.left = began.Add(maxSearch<<r.strays.grown), maxSearched<<r.strays.grown
	}
	if began.Before(r.strays.later) {
		s.left = 0
	}
	if r.keeps(links, s, ended) {
		return true
	}
	if took := time.Since(began); began.After(r.strays.later) {
		r.strays.later = time.Now().Add(searchShare * took)
		if ended != nil {
			r.strays.grown = min(r.strays.grown+1, searchGrows)
		}
	}
	return false
}

// keeps searches where a program may write for things without a name of their own,
// and takes those away that lie there. One that has further names counts as outside:
// nobody can tell which of them was moved. What cannot be read a program may have shut
// itself, so that it counts as searched. False if the search came to its bounds.
func (r *run) keeps(links map[sandbox.FileID]string, s *treeSearch, ended <-chan struct{}) bool {
	kept := map[sandbox.FileID]string{}
	defer func() { r.strays.kept = kept }()
	found := func(path string, st *unix.Stat_t) error {
		select {
		case <-ended:
			s.left = 0
			return errUnsearched
		default:
		}
		if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 {
			return nil
		}
		for _, id := range []sandbox.FileID{numberOf(st), {Inode: st.Ino}} {
			if _, wanted := links[id]; wanted && (id.Device != 0 || unix.Major(st.Dev) == 0) {
				kept[id] = path
				delete(links, id)
			}
		}
		if len(links) == 0 {
			return errUnsearched // no further
		}
		return nil
	}
	for _, path := range r.strays.kept { // where they were at the last look
		var st unix.Stat_t
		if len(links) > 0 && unix.Lstat(path, &st) == nil {
			_ = found(path, &st)
		}
	}
	s.visit = found
	for _, b := range r.job.binds {
		if b.strict && b.write && len(links) > 0 && s.left > 0 {
			_, _ = s.enter(unix.AT_FDCWD, b.source, b.source, 0) // what is not found counts as outside
		}
	}
	return len(links) == 0 || s.left > 0 && time.Now().Before(s.until)
}
