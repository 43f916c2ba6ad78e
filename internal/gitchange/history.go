package gitchange

import (
	"cmp"
	"errors"
	"slices"

	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// history goes from commits to those before them.
type history struct {
	store   *gitobject.Store
	shallow map[gitobject.ID]bool // commits whose parents were never fetched
	seen    map[gitobject.ID]gitobject.CommitInfo
}

// maxCommits bounds how many commits are read in one look.
const maxCommits = 50_000

func (h *history) commit(id gitobject.ID) (gitobject.CommitInfo, error) {
	if c, ok := h.seen[id]; ok {
		return c, nil
	}
	if len(h.seen) >= maxCommits {
		return gitobject.CommitInfo{}, gitobject.ErrTooMuch
	}
	c, err := h.store.Commit(id)
	if err != nil {
		return c, err
	}
	if h.shallow[id] {
		c.Parents = nil
	}
	h.seen[id] = c
	return c, nil
}

// dated is a commit that is to be looked at.
type dated struct {
	id   gitobject.ID
	time int64
}

// queue holds commits, the oldest first.
type queue []dated

func (q *queue) add(d dated) {
	i, _ := slices.BinarySearchFunc(*q, d, func(a, b dated) int { return cmp.Compare(a.time, b.time) })
	*q = slices.Insert(*q, i, d)
}

func (q *queue) latest() dated {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// newSince gives the commits that can be reached from some and not from others, the
// latest first. Where times are wrong it may give a few more: they are judged again.
func (h *history) newSince(tips, known []gitobject.ID) ([]gitobject.ID, error) {
	old, met := map[gitobject.ID]bool{}, map[gitobject.ID]bool{}
	var q queue
	waiting := map[gitobject.ID]bool{} // in the queue, and not known to be old
	add := func(id gitobject.ID, isOld bool) error {
		if isOld {
			old[id] = true
			delete(waiting, id)
		}
		if met[id] {
			return nil
		}
		met[id] = true
		c, err := h.commit(id)
		switch {
		case err != nil && old[id]: // what lies behind it is not known then, and judged
			return nil
		case err != nil:
			return err
		case !old[id]:
			waiting[id] = true
		}
		q.add(dated{id, c.Time})
		return nil
	}
	for _, id := range known {
		if err := add(id, true); err != nil {
			return nil, err
		}
	}
	for _, id := range tips {
		if err := add(id, false); err != nil {
			return nil, err
		}
	}
	var out []gitobject.ID
	for len(waiting) > 0 {
		d := q.latest()
		delete(waiting, d.id)
		if !old[d.id] {
			out = append(out, d.id)
		}
		for _, parent := range h.seen[d.id].Parents {
			if err := add(parent, old[d.id]); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(out, func(id gitobject.ID) bool { return old[id] }), nil
}

// Where there are many commits, those that claim to be so many seconds older than what
// is looked for are not looked behind.
const (
	manyCommits = 1000
	slack       = 30 * 24 * 3600
)

// reaches tells whether a commit is one of some others, or lies behind one of them.
func (h *history) reaches(from []gitobject.ID, to gitobject.ID) (bool, error) {
	if slices.Contains(from, to) {
		return true, nil
	}
	target, err := h.commit(to)
	if err != nil {
		return false, err
	}
	var q queue
	queued := map[gitobject.ID]bool{}
	add := func(id gitobject.ID) error {
		if queued[id] {
			return nil
		}
		queued[id] = true
		c, err := h.commit(id)
		if errors.Is(err, gitobject.ErrMissing) {
			return nil
		}
		if err == nil && (len(queued) < manyCommits || c.Time >= target.Time-slack) {
			q.add(dated{id, c.Time})
		}
		return err
	}
	for _, id := range from {
		if err := add(id); err != nil {
			return false, err
		}
	}
	for len(q) > 0 {
		for _, parent := range h.seen[q.latest().id].Parents {
			if parent == to {
				return true, nil
			}
			if err := add(parent); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}
