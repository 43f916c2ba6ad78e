package learn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Pair is a search and the tool that it led to.
type Pair struct {
	Profile string    `json:"profile"`
	Subject string    `json:"subject"`
	Query   string    `json:"query"`
	Tool    string    `json:"tool"` // box/name, as the toolbox calls it
	Times   int       `json:"times"`
	Last    time.Time `json:"last"`
}

// sameAs reports whether two pairs are one that was used twice.
func (p Pair) sameAs(o Pair) bool {
	return p.Profile == o.Profile && p.Subject == o.Subject && p.Tool == o.Tool && p.Query == o.Query
}

// Bounds of what is kept. One person has a part of a profile's room, so that nobody
// can push out what others taught.
const (
	perSubject = 300 // of a profile
	perProfile = 1500
	inAll      = 4000
	maxQuery   = 200 // characters
	maxFile    = 4 << 20
	maxTimes   = 1_000_000
)

// Book is what was learned, in a file that several processes share.
type Book struct {
	path   string
	maxAge time.Duration
	now    func() time.Time

	mu      sync.Mutex
	pairs   []Pair
	seen    string // which state of the file pairs are of
	version uint64 // counts states
}

// NewBook makes a book of a file, which need not exist. Pairs that were not used
// for longer than maxAge are gone.
func NewBook(path string, maxAge time.Duration) *Book {
	return &Book{path: path, maxAge: maxAge, now: time.Now}
}

// Pairs gives all that was learned, by profile, tool and query.
func (b *Book) Pairs() ([]Pair, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.refresh()
	return slices.Clone(b.pairs), err
}

// Version is a number that is another one whenever what was learned has changed. If
// the file cannot be read it is that of what was read last.
func (b *Book) Version() (uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.refresh()
	return b.version, err
}

// Of gives what was learned in a profile, as it was when the version was asked for.
func (b *Book) Of(profile string) (list []Pair) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.pairs {
		if p.Profile == profile {
			list = append(list, p)
		}
	}
	return list
}

// Forget takes out what pick says, and tells how many pairs that were.
func (b *Book) Forget(ctx context.Context, pick func(Pair) bool) (gone int, err error) {
	err = b.change(ctx, func(list []Pair) []Pair {
		before := len(list)
		list = slices.DeleteFunc(list, pick)
		gone = before - len(list)
		return list
	})
	return gone, err
}

// ForgetTool forgets what led to a tool, in every profile: by its whole name, or by
// that of the tool alone.
func (b *Book) ForgetTool(ctx context.Context, name string) (gone int, err error) {
	return b.Forget(ctx, func(p Pair) bool { return p.Tool == name || strings.HasSuffix(p.Tool, "/"+name) })
}

// Wipe forgets everything, also what cannot be read.
func (b *Book) Wipe() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pairs, b.seen = nil, ""
	b.version++
	if err := os.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting what searches led to: %w", err)
	}
	return nil
}

// add counts one more time that searches led to a tool.
func (b *Book) add(ctx context.Context, news []Pair) error {
	return b.change(ctx, func(list []Pair) []Pair {
		for _, n := range news {
			at := slices.IndexFunc(list, n.sameAs)
			if at < 0 {
				list = append(list, n)
				continue
			}
			list[at].Times++
			list[at].Last = n.Last
		}
		return list
	})
}

// change replaces the file by what edit makes of it, one process after the other.
func (b *Book) change(ctx context.Context, edit func([]Pair) []Pair) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	lock, err := durable.Lock(ctx, b.path+".lock")
	if err != nil {
		return fmt.Errorf("locking what searches led to: %w", err)
	}
	defer func() { _ = lock.Close() }() // what gives the lock back; nothing was written to it
	if err := b.refresh(); err != nil {
		return err
	}
	next := bounded(edit(slices.Clone(b.pairs)), b.now(), b.maxAge)
	text, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("writing what searches led to: %w", err)
	}
	if err := durable.ReplaceLocked(b.path, text, 0o600); err != nil {
		return fmt.Errorf("writing what searches led to: %w", err)
	}
	b.pairs = next
	b.version++
	b.seen = plainfile.Marks(b.path)
	return nil
}

// refresh reads the file if another process has changed it.
func (b *Book) refresh() error {
	mark := plainfile.Marks(b.path)
	if mark != "" && mark == b.seen {
		return nil
	}
	text, err := plainfile.Begin(b.path, maxFile)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && b.seen == "":
		return nil
	case missing:
		mark = ""
	case err != nil:
		return fmt.Errorf("reading what searches led to: %w", err)
	}
	var list []Pair
	if len(text) > 0 {
		if list, err = read(text); err != nil {
			return fmt.Errorf("%s: %w; 'toolcrib tools forget --all' makes it anew", b.path, err)
		}
	}
	b.pairs, b.seen = bounded(list, b.now(), b.maxAge), mark
	b.version++
	return nil
}

// read takes a file for what it says, within bounds.
func read(text []byte) ([]Pair, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	var list []Pair
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("it is not what was written there: %w", err)
	}
	return list, nil
}

// bounded drops what is old, and where there is too much the oldest: first of one
// person, then of a profile, then of all. What no clock and no count of ours can have
// written is put right: a time to come would never grow old.
func bounded(list []Pair, now time.Time, maxAge time.Duration) []Pair {
	list = slices.DeleteFunc(list, func(p Pair) bool {
		return p.Last.Before(now.Add(-maxAge)) || p.Query == "" || p.Tool == "" || len(p.Query) > 4*maxQuery
	})
	for i, p := range list {
		list[i].Times = min(max(p.Times, 1), maxTimes)
		if p.Last.After(now) {
			list[i].Last = now.UTC().Truncate(time.Second)
		}
	}
	slices.SortStableFunc(list, func(a, b Pair) int { return b.Last.Compare(a.Last) })
	of, in := map[[2]string]int{}, map[string]int{}
	list = slices.DeleteFunc(list, func(p Pair) bool {
		of[[2]string{p.Profile, p.Subject}]++
		return of[[2]string{p.Profile, p.Subject}] > perSubject
	})
	list = slices.DeleteFunc(list, func(p Pair) bool {
		in[p.Profile]++
		return in[p.Profile] > perProfile
	})
	list = list[:min(len(list), inAll)]
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Query, b.Query), cmp.Compare(a.Subject, b.Subject), b.Last.Compare(a.Last))
	})
	return slices.CompactFunc(list, Pair.sameAs)
}
