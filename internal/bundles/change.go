package bundles

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/text"
)

// scope is the directory of the project, or nothing.
func (b *Bundles) scope(project bool) (string, error) {
	if !project {
		return "", nil
	}
	return b.project(true)
}

// Update fetches a package again from where it came, or from a source that is given.
func (b *Bundles) Update(ctx context.Context, name, from string, want Want) (*Candidate, error) {
	project, err := b.scope(want.Project)
	if err != nil {
		return nil, err
	}
	r, err := b.read()
	if err != nil {
		return nil, err
	}
	i, there := r.of(project)[name]
	if !there {
		return nil, b.noBundle(r, project, name)
	}
	if from == "" {
		from = i.Given
	}
	source, err := ParseSource(from, b.Dir)
	if err != nil {
		return nil, err
	}
	want.Name = i.Package.Name
	return b.fetchSource(ctx, source, want)
}

// noBundle says that there is no such package in a scope, and how it is written if it is in the other one.
func (b *Bundles) noBundle(r *record, project, name string) error {
	other, how := "", "without --project"
	if project == "" {
		how = "with --project"
		var err error
		if other, err = b.project(false); err != nil {
			other = ""
		}
	}
	if other != project && taken(r.of(other), name) {
		return fmt.Errorf("%w: %s; there is one if you write this %s", ErrNone, text.ShowLine(name), how)
	}
	in := r.of(project)
	if near := text.Nearest(name, slices.Sorted(maps.Keys(in))); near != "" {
		return fmt.Errorf("%w: %s. Did you mean %s?", ErrNone, text.ShowLine(name), near)
	}
	return fmt.Errorf("%w: %s; 'toolcrib bundle list' lists those there are", ErrNone, text.ShowLine(name))
}

// Previous says what a package would be after going back, and what that changes.
func (b *Bundles) Previous(name string, inProject bool) (Installed, bundle.Consent, error) {
	project, err := b.scope(inProject)
	if err != nil {
		return Installed{}, bundle.Consent{}, err
	}
	r, err := b.read()
	if err != nil {
		return Installed{}, bundle.Consent{}, err
	}
	i, there := r.of(project)[name]
	if !there {
		return i, bundle.Consent{}, b.noBundle(r, project, name)
	}
	if len(i.Before) == 0 {
		return i, bundle.Consent{}, fmt.Errorf("there is no earlier state of %s: it has not been updated since it was installed, or went back already", name)
	}
	was := i.Before[len(i.Before)-1]
	then, today := was.Counting(), i.Counting()
	consent := bundle.Difference(&today, &then)
	before, err := b.listing(was.Tree)
	if err != nil {
		return was, consent, fmt.Errorf("the earlier state of %s cannot be read: %w", name, err)
	}
	now, _ := b.listing(i.Tree) // what was damaged is why one goes back: then every file is another
	if said := before.unlike(now); said != "" {
		consent.Changes = append(consent.Changes, said)
	}
	return was, consent, nil
}

// Rollback goes back to the state before.
func (b *Bundles) Rollback(ctx context.Context, name string, inProject bool) (Installed, error) {
	project, err := b.scope(inProject)
	if err != nil {
		return Installed{}, err
	}
	release, err := b.hold(ctx)
	if err != nil {
		return Installed{}, err
	}
	defer release()
	r, err := b.read()
	if err != nil {
		return Installed{}, err
	}
	i, there := r.of(project)[name]
	switch {
	case !there:
		return i, b.noBundle(r, project, name)
	case len(i.Before) == 0:
		return i, fmt.Errorf("there is no earlier state of %s: it has not been updated since it was installed, or went back already", name)
	}
	if err := b.writeTemplates(r); err != nil {
		return i, err
	}
	was := i.Before[len(i.Before)-1]
	changed, err := b.check(was.Tree)
	if err == nil && len(changed) > 0 {
		err = errors.New(strings.Join(changed[:min(len(changed), 5)], ", "))
	}
	if err != nil {
		return i, fmt.Errorf("the earlier state of %s was changed since, and does not come back: %w", name, err)
	}
	was.Before, was.Templates = i.Before[:len(i.Before)-1], i.Templates
	was.Sandbox = i.Sandbox // an earlier state does not leave it
	if err := b.plan(r, project, &was); err != nil {
		return i, err
	}
	r.set(project, name, was)
	if err := b.write(r); err != nil {
		return i, err
	}
	return was, b.settle(r, project)
}

// Remove takes a package away: all that came with it, and nothing else. It names memory
// templates that the person changed, which stay.
func (b *Bundles) Remove(ctx context.Context, name string, inProject, keepData bool) (stay []string, err error) {
	project, err := b.scope(inProject)
	if err != nil {
		return nil, err
	}
	if err := bundle.CheckName(name); err != nil {
		return nil, err
	}
	release, err := b.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	r, err := b.read()
	if err != nil {
		return nil, err
	}
	i, there := r.of(project)[name]
	if !there {
		return nil, b.noBundle(r, project, name)
	}
	if err := b.writeTemplates(r); err != nil {
		return nil, err
	}
	delete(r.of(project), name)
	if r.Gone == nil {
		r.Gone = map[string][]string{}
	}
	r.Gone[project] = append(r.Gone[project], name)
	// The templates go first: who is killed here has the package, and the next change
	// writes them again.
	if stay, err = b.dropTemplates(i.Templates); err != nil {
		return stay, err
	}
	if keepData {
		if err := os.Rename(b.data(project, name), b.data(project, name)+keptMark); err != nil && !errors.Is(err, os.ErrNotExist) {
			return stay, err
		}
	}
	b.at("dropped")
	if err := b.write(r); err != nil {
		return stay, err
	}
	return stay, b.settle(r, project)
}

// keptMark is behind the name of a folder that was kept when its package was removed. No
// name of a package has an @.
const keptMark = "@kept"

// data is the folder that is a package's own, kept over updates.
func (b *Bundles) data(project, name string) string {
	if project != "" {
		name += "@" + digest([]byte(project))[:16] // no name of a package has an @
	}
	return filepath.Join(b.dir(), "data", name)
}

func (b *Bundles) lockOf(project string) string {
	if project != "" {
		return projectLock(project)
	}
	return b.LockFile
}
