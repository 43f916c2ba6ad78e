package bundles

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// Missing is a package that a lock file names and that is not installed like that.
type Missing struct {
	Name   string
	Locked Locked
	Source Source
	Err    error // why it cannot be had
}

// Unsynced are the packages of a lock file that are not installed as it says: of the
// project, or the person's own.
func (b *Bundles) Unsynced(inProject bool) (list []Missing, err error) {
	project := ""
	if inProject {
		if project, err = b.project(false); err != nil {
			return nil, err
		}
		if project == "" {
			return nil, errors.New("there is no .toolcrib/bundles.lock here or above")
		}
	}
	file := b.lockOf(project)
	if file == "" {
		return nil, errors.New("there is no lock file")
	}
	l, err := readLock(file)
	if err != nil {
		return nil, err
	}
	r, err := b.read()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(l.Bundles)) {
		one := l.Bundles[name]
		if i, there := r.of(project)[name]; there && i.Tree == one.Tree {
			if changed, err := b.check(i.Tree); err == nil && len(changed) == 0 {
				continue
			}
		}
		m := Missing{Name: name, Locked: one}
		m.Source, m.Err = lockedSource(one, project, b.Dir)
		list = append(list, m)
	}
	return list, nil
}

// FetchLocked gets a package that a lock file names, exactly.
func (b *Bundles) FetchLocked(ctx context.Context, m Missing, want Want) (*Candidate, error) {
	if m.Err != nil {
		return nil, m.Err
	}
	want.Name, want.Tree, want.locked = m.Name, m.Locked.Tree, &m.Locked
	return b.fetchSource(ctx, m.Source, want)
}
