package gitchange

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// fileKey tells contents of one path apart.
type fileKey struct {
	path string
	now  gitobject.Entry
}

// maxFiles bounds the files of all commits of one change set.
const maxFiles = 200_000

// commits judges the commits that a ref brings: those that were on no branch before,
// each by itself, so that none hides behind the next, and all that is different
// between where the ref was and where it is.
func (j *judge) commits(m move, to gitobject.ID, known *[]gitobject.ID) error {
	fresh, err := j.history.newSince([]gitobject.ID{to}, *known)
	if err != nil {
		return fmt.Errorf("which commits are new is not known: %w", err)
	}
	*known = append(*known, to)
	var texts []string
	for i, id := range fresh {
		c, err := j.history.commit(id)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("a commit on %s: %s by %s", short(m.name), subject(c.Message), plain(c.Author))
		from := len(j.result.Files)
		if err := j.commit(m.at, text, c); err != nil {
			return err
		}
		if i < maxTold {
			texts = append(texts, text)
			j.result.Shown = append(j.result.Shown, text)
			j.showCommit(c, j.result.Files[from:])
		}
	}
	if more := len(fresh) - maxTold; more > 0 {
		texts = append(texts, counted(more, "more commit"))
		j.show("%s", counted(more, "more commit"))
	}
	if len(fresh) == 0 {
		texts = append(texts, fmt.Sprintf("%s is at %s now", m.title(), m.new.id.Short()))
		j.show("%s", texts[0])
	}
	j.find(m.at, Ordinary, "", strings.Join(texts, ", "))
	if m.old.id == (gitobject.ID{}) || m.name == stash {
		return nil
	}
	was, kind, err := j.store.Peel(m.old.id)
	if err != nil || kind != gitobject.Commit {
		return err
	}
	old, err := j.history.commit(was)
	if err != nil {
		return err
	}
	now, err := j.history.commit(to)
	if err != nil {
		return err
	}
	return j.carry(m.at, m.title(), old.Tree, now.Tree)
}

// maxTold is how many commits are told one by one.
const maxTold = 20

// commit adds the files of one commit: how it differs from what was before, and of a
// merge what is in none of those that were merged.
func (j *judge) commit(at int, by string, c gitobject.CommitInfo) error {
	if len(c.Parents) < 2 {
		var before gitobject.ID
		if len(c.Parents) == 1 {
			parent, err := j.history.commit(c.Parents[0])
			if err != nil {
				return err
			}
			before = parent.Tree
		}
		return j.carry(at, by, before, c.Tree)
	}
	own := map[string]int{} // in how many parents it is different
	var last []gitobject.Change
	for _, id := range c.Parents {
		parent, err := j.history.commit(id)
		if err != nil {
			return err
		}
		if last, err = j.store.Diff(parent.Tree, c.Tree); err != nil {
			return err
		}
		for _, d := range last {
			own[d.Path]++
		}
	}
	return j.add(at, by, slices.DeleteFunc(last, func(d gitobject.Change) bool { return own[d.Path] < len(c.Parents) }))
}

// carry adds the files that differ between two trees.
func (j *judge) carry(at int, by string, from, to gitobject.ID) error {
	list, err := j.store.Diff(from, to)
	if err != nil {
		return err
	}
	return j.add(at, by, list)
}

func (j *judge) add(at int, by string, list []gitobject.Change) error {
	for _, d := range list {
		d.Old.Name, d.New.Name = "", ""
		if !gitindex.Proper(d.Path) {
			j.find(at, Deny, Forged, by+" has the name "+plain(d.Path)+", which git would not write into a work tree")
			continue
		}
		key := fileKey{d.Path, d.New}
		if j.files[key] {
			continue
		}
		if len(j.result.Files) >= maxFiles {
			return gitobject.ErrTooMuch
		}
		j.files[key] = true
		j.result.Files = append(j.result.Files, File{Path: d.Path, By: by, Old: d.Old, New: d.New})
	}
	return nil
}
