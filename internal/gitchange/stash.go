package gitchange

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// stashLog has all stashes: the ref stands only for the last one, and git finds those
// before it in the log of the ref.
const stashLog = "logs/" + stash

// stashes reads which commits the log has.
func stashes(dir gitobject.Dir) ([]gitobject.ID, error) {
	data, err := gitobject.ReadAll(dir, stashLog, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []gitobject.ID
	for line := range strings.Lines(string(data)) {
		words := strings.SplitN(line, " ", 3)
		if len(words) < 3 {
			return nil, gitobject.ErrOdd
		}
		id, ok := gitobject.ParseID(words[1])
		if !ok {
			return nil, gitobject.ErrOdd
		}
		out = append(out, id)
	}
	return out, nil
}

// stashLog judges the log of stashes: those that are new like commits, and those that
// are gone as lost, unless the work tree has changed with them.
func (j *judge) stashLog(i int, known []gitobject.ID) error {
	before, err := stashes(j.repo.Before)
	if err != nil {
		before = nil // none of those is known then
	}
	after, err := stashes(j.repo.After)
	if err != nil {
		return err
	}
	if lost := slices.ContainsFunc(before, func(id gitobject.ID) bool { return !slices.Contains(after, id) }); lost && !j.repo.WorkChanged {
		j.find(i, Ask, History, "history is lost: a stash would be dropped")
	}
	return j.hidden(i, "the stashes", after, known)
}

// hidden judges commits that are on no branch, and that git finds all the same.
func (j *judge) hidden(i int, by string, tips, known []gitobject.ID) error {
	fresh, err := j.history.newSince(tips, known)
	if err != nil {
		return err
	}
	for _, id := range fresh {
		commit, err := j.history.commit(id)
		if err != nil {
			return err
		}
		if err := j.commit(i, "a commit of "+by+": "+subject(commit.Message), commit); err != nil {
			return err
		}
	}
	return nil
}
