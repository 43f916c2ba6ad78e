package sandbox

import (
	"crypto/sha256"
	"path/filepath"
	"sync"
	"time"
)

// Programs run beside each other, and one of them may be a server that runs all
// day. What others made and were found to be allowed to make is not held against
// it: whoever ends last would be taken for the maker of everything.

// others is what programs of one Toolcrib know of each other.
type others struct {
	mu     sync.Mutex
	passed map[string]repositoryPrint      // repositories that were found harmless after a program
	online int                             // programs with network that run now
	last   time.Time                       // when the last one of these ended
	sums   map[toolState][sha256.Size]byte // of programs in PATH
}

// maxPassed and maxSums bound what is remembered.
const (
	maxPassed = 4096
	maxSums   = 1024
)

// Running notes that the program runs, until what it gives is called.
func (c *Covering) Running() (ended func()) {
	if c.shield == nil || c.offline {
		return func() {}
	}
	o := &c.shield.others
	o.mu.Lock()
	defer o.mu.Unlock()
	o.online++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.online, o.last = o.online-1, time.Now()
	}
}

// alone tells whether neither this program nor any other that ran meanwhile had
// the network: so nobody but the person can have got something from there.
func (c *Covering) alone() bool {
	o := &c.shield.others
	o.mu.Lock()
	defer o.mu.Unlock()
	return c.offline && o.online == 0 && !o.last.After(c.began)
}

// repositoryPrint is what about a Git directory leads to other places: as long as
// it is the same, the same is named. Zero if it is not known.
type repositoryPrint struct {
	id    FileID
	files [3]struct {
		id            FileID
		changed, size int64
	}
}

func printOf(path string) (mark repositoryPrint, changed int64) {
	facts, err := factsOf(path)
	if err != nil || !facts.dir {
		return repositoryPrint{}, 0
	}
	mark.id = facts.id
	for i, name := range []string{"config", "config.worktree", filepath.Join("objects", "info", "alternates")} {
		if facts, err := factsOf(filepath.Join(path, name)); err == nil {
			f := &mark.files[i]
			f.id, f.changed, f.size = facts.id, facts.changed, facts.size
			changed = max(changed, facts.changed)
		}
	}
	return mark, changed
}

// printFor is printOf for what is about to be judged. It is sure if every change
// from now on would show.
func printFor(path string) (mark repositoryPrint, sure bool) {
	for range 5 { // a busy machine may be late with the next step of its clock
		before := now()
		var changed int64
		if mark, changed = printOf(path); mark.id == (FileID{}) || moment(changed) < before {
			break
		}
		mark = repositoryPrint{}
		grow()
	}
	return mark, mark.id != (FileID{})
}

func (o *others) pass(path string, mark repositoryPrint) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.passed == nil || len(o.passed) >= maxPassed {
		o.passed = map[string]repositoryPrint{}
	}
	o.passed[path] = mark
}

// passed tells whether a repository is as it was when it was found harmless after
// another program, which may have had the network, or have been granted more.
func (j *judging) passed(path string) bool {
	o := &j.before.shield.others
	o.mu.Lock()
	mark, known := o.passed[path]
	o.mu.Unlock()
	now, _ := printOf(path)
	return known && now == mark
}
