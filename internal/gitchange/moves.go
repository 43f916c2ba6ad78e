package gitchange

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// move is what became of one ref.
type move struct {
	name     string
	old, new value
	at       int // the change that carries it
}

// refs judges what became of refs.
func (j *judge) refs() {
	moves, pseudos := j.moved()
	if len(moves)+len(pseudos) == 0 {
		return
	}
	known, err := j.before.tips()
	if list, unread := stashes(j.repo.Before); unread == nil {
		known = append(known, list...)
	}
	for _, m := range moves {
		if m.old.id != (gitobject.ID{}) {
			known = append(known, m.old.id)
		}
	}
	for _, m := range moves {
		if err == nil {
			err = j.move(m, &known)
		}
		if err != nil {
			j.fault(m.at, fmt.Errorf("%s: %w", m.title(), err))
			err = nil
		}
	}
	for _, at := range pseudos {
		switch {
		case err != nil:
		case j.changes[at].Name == stashLog:
			err = j.stashLog(at, known)
		default:
			err = j.pseudo(at, known)
		}
		if err != nil {
			j.fault(at, fmt.Errorf("%s: %w", j.changes[at].Name, err))
			err = nil
		}
	}
}

// moved lists the refs that changed, branches first, and the changes of files that
// hold the names of commits and are no refs.
func (j *judge) moved() (out []move, pseudos []int) {
	at := map[string]int{}
	for i := range j.changes {
		c := &j.changes[i]
		if j.result.Findings[i].Answer != Ordinary {
			continue
		}
		switch placeOf(c.Name) {
		case ref, head:
			if c.Existed && !c.Before.IsDir() || c.Exists && !c.After.IsDir() {
				at[c.Name] = i
			}
		case packedRefs:
			j.packedRefs(i, at)
		case pseudo:
			if c.Exists {
				pseudos = append(pseudos, i)
			}
		case log:
			if c.Name == stashLog {
				pseudos = append(pseudos, i)
			}
		}
	}
	for name, i := range at {
		old, err := j.before.get(name)
		now, errNow := j.after.get(name)
		if err != nil || errNow != nil {
			j.find(i, Ask, Unread, "the ref "+plain(name)+" "+gitobject.ErrOdd.Error())
			continue
		}
		if old != now {
			out = append(out, move{name, old, now, i})
		}
	}
	slices.SortFunc(out, func(a, b move) int {
		return strings.Compare(fmt.Sprint(rank(a.name), a.name), fmt.Sprint(rank(b.name), b.name))
	})
	return out, pseudos
}

// rank orders refs as people think of them.
func rank(name string) int {
	for i, prefix := range []string{"refs/heads/", "HEAD", "refs/stash", "refs/tags/"} {
		if strings.HasPrefix(name, prefix) {
			return i
		}
	}
	return 9
}

// packedRefs adds the refs that changed in the file of packed ones.
func (j *judge) packedRefs(i int, at map[string]int) {
	names := map[string]bool{}
	for name, r := range j.after.packed {
		if was := j.before.packed[name]; was != r {
			names[name] = true
			if r.peeled != (gitobject.ID{}) {
				if to, _, err := j.store.Peel(r.id); err != nil || to != r.peeled {
					j.find(i, Ask, Unread, "what the tag "+plain(name)+" stands for is not what packed-refs says")
				}
			}
		}
	}
	for name := range j.before.packed {
		if _, still := j.after.packed[name]; !still {
			names[name] = true
		}
	}
	for name := range names {
		if !isRef(name) {
			j.find(i, Ask, Obeyed, "the ref "+plain(name)+" would change, by which git may go in ways of its own")
			continue
		}
		if _, own := at[name]; !own {
			at[name] = i
		}
	}
}

// pseudo judges a file such as MERGE_HEAD, by which git makes the next commit, or goes
// back. Commits of it that are on no branch are judged like those of branches.
func (j *judge) pseudo(i int, known []gitobject.ID) error {
	c := &j.changes[i]
	data, err := gitobject.ReadAll(j.repo.After, c.Name, maxRef)
	if err != nil {
		return err
	}
	var tips []gitobject.ID
	for line := range strings.Lines(string(data)) {
		id, ok := gitobject.ParseID(strings.TrimSuffix(line, "\n"))
		if !ok {
			return gitobject.ErrOdd
		}
		o, err := j.store.Read(id, maxConfig)
		switch {
		case err != nil:
			return err
		case o.Kind == gitobject.Commit:
			tips = append(tips, id)
		case o.Kind != gitobject.Tree || c.Name != "AUTO_MERGE":
			return gitobject.ErrOdd
		}
	}
	if len(data) == 0 {
		return gitobject.ErrOdd
	}
	return j.hidden(i, c.Name, tips, known)
}

// title is what people call a ref.
func (m *move) title() string {
	for prefix, word := range map[string]string{"refs/heads/": "branch ", "refs/tags/": "tag ", "refs/remotes/": "remote branch ", "refs/notes/": "notes "} {
		if rest, ok := strings.CutPrefix(m.name, prefix); ok {
			return word + plain(rest)
		}
	}
	if m.name == stash {
		return "stash"
	}
	return plain(m.name)
}

// short is a branch without what every branch has.
func short(name string) string {
	rest, _ := strings.CutPrefix(name, "refs/heads/")
	return plain(rest)
}

// move judges what became of one ref.
func (j *judge) move(m move, known *[]gitobject.ID) error {
	if m.new.symref != "" || m.old.symref != "" {
		if why := symbolic(m); why != "" {
			j.find(m.at, Ask, Unread, why)
			return nil
		}
	}
	if m.new.symref != "" {
		j.told(m.at, "%s is on branch %s now", m.title(), short(m.new.symref))
		return j.left(m)
	}
	if m.new.id == (gitobject.ID{}) {
		j.told(m.at, "%s was deleted (it was at %s)", m.title(), m.old.id.Short())
		return j.left(m)
	}
	to, kind, err := j.store.Peel(m.new.id)
	if err != nil {
		return err
	}
	if kind != gitobject.Commit {
		if !strings.HasPrefix(m.name, "refs/tags/") {
			j.find(m.at, Ask, Unread, m.title()+" stands for no commit")
			return nil
		}
		j.told(m.at, "%s stands for the %s %s", m.title(), kind, to.Short())
		if kind == gitobject.Tree {
			return j.carry(m.at, m.title(), gitobject.ID{}, to)
		}
		return nil
	}
	if err := j.commits(m, to, known); err != nil {
		return err
	}
	return j.left(m)
}

// symbolic says why a ref that leads to another one is not as usual.
func symbolic(m move) string {
	to := m.new.symref
	switch {
	case m.name == "HEAD" && (to == "" || strings.HasPrefix(to, "refs/heads/")):
	case strings.HasPrefix(m.name, "refs/remotes/") && strings.HasSuffix(m.name, "/HEAD") && (to == "" || strings.HasPrefix(to, strings.TrimSuffix(m.name, "HEAD"))):
	default:
		return m.title() + " would lead to another ref, or has done so"
	}
	return ""
}

// told notes what an ordinary change is.
func (j *judge) told(i int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	j.find(i, Ordinary, "", text)
	j.result.Shown = append(j.result.Shown, text)
}

// left asks about commits that a ref does not have any more.
func (j *judge) left(m move) error {
	old := m.old.id
	if m.old.symref != "" || old == (gitobject.ID{}) {
		return nil
	}
	switch {
	case strings.HasPrefix(m.name, "refs/remotes/"), strings.HasPrefix(m.name, "refs/notes/"):
		return nil // what others have, and what is said about commits
	case m.name == stash:
		if kept, err := stashes(j.repo.After); j.repo.WorkChanged || err == nil && slices.Contains(kept, old) {
			return nil // it was taken out again, or there is a newer one
		}
	}
	was, kind, err := j.store.Peel(old)
	if err != nil {
		return err
	}
	if kind != gitobject.Commit {
		j.find(m.at, Ask, History, m.title()+" was moved or deleted")
		return nil
	}
	var from []gitobject.ID
	switch {
	case m.new.id != (gitobject.ID{}) && m.name != "HEAD":
		to, _, err := j.store.Peel(m.new.id)
		if err != nil {
			return err
		}
		from = []gitobject.ID{to}
	default:
		if from, err = j.after.tips(); err != nil {
			return err
		}
	}
	still, err := j.history.reaches(from, was)
	switch {
	case err != nil:
		return fmt.Errorf("whether commits are lost is not known: %w", err)
	case still:
	case m.new.exists() && m.name != "HEAD":
		j.find(m.at, Ask, History, fmt.Sprintf("history is rewritten: %s was at %s, and its commits are not behind %s, where it would be", m.title(), was.Short(), m.new.id.Short()))
	default:
		j.find(m.at, Ask, History, fmt.Sprintf("history is lost: the commits of %s up to %s would be on no branch any more", m.title(), was.Short()))
	}
	return nil
}
