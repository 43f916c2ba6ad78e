package bundles

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/text"
)

// Candidate is a package that was fetched and looked at, and that nobody has said yes to.
type Candidate struct {
	Package *bundle.Package
	Source  Source // with commit or digest
	Tree    string
	// Before is what is installed under its name; nil: nothing is.
	Before *Installed
	// Consent is what a person says yes to.
	Consent bundle.Consent
	// Findings are what a person should look at.
	Findings []bundle.Finding
	// Left are servers that are left out, and why.
	Left map[string]string
	// Values is what was given for what it asks for.
	Values map[string]string

	// Sandbox is where its servers run; empty: where servers of the settings do.
	Sandbox string

	given   string // the source as the person wrote it
	vault   string // what its secrets begin with
	files   listing
	stage   *stage
	project string
	of      *Bundles
}

// Want is how a package is wanted.
type Want struct {
	// Name is what it is to be called; empty: what it calls itself.
	Name string
	// Project: it is for the project that the working directory is in.
	Project bool
	// Pin has the versions looked up that servers do not name.
	Pin bool
	// Values is what the person gives for what it asks for, by name.
	Values map[string]string
	// Sandbox is where its servers run, as mcp_servers.NAME.sandbox says it; empty: where
	// they did before, or else where servers of the settings do.
	Sandbox string
	// Tree is the content that it has to have; empty: any.
	Tree string

	locked *Locked // what a lock file says of it
}

// Close throws away what was fetched.
func (c *Candidate) Close() error { return c.stage.close() }

// Same: it is installed already, as it is.
func (c *Candidate) Same() bool {
	return c.Before != nil && c.Before.Tree == c.Tree && c.Consent.Empty() && equalValues(c.Before.Values, c.Values)
}

func equalValues(a, b map[string]string) bool {
	for k, v := range b {
		if a[k] != v {
			return false
		}
	}
	return true
}

// Fetch gets a package and looks at it. Nothing of it counts yet.
func (b *Bundles) Fetch(ctx context.Context, given string, want Want) (*Candidate, error) {
	source, err := ParseSource(given, b.Dir)
	if err != nil {
		return nil, err
	}
	return b.fetchSource(ctx, source, want)
}

func (b *Bundles) fetchSource(ctx context.Context, source Source, want Want) (_ *Candidate, err error) {
	c := &Candidate{of: b, given: source.String(), Sandbox: want.Sandbox}
	if want.Project {
		if c.project, err = b.project(true); err == nil {
			err = plainLock(c.project)
		}
		if err != nil {
			return nil, err
		}
	}
	if b.Store == "" {
		return nil, errors.New("there is no directory to keep bundles in")
	}
	if c.stage, err = b.stage(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	w, err := newWriter(filepath.Join(c.stage.dir, packageName))
	if err != nil {
		return nil, err
	}
	var name string
	c.Source, name, err = b.fetch(ctx, source, w, filepath.Join(c.stage.dir, "scratch"))
	if err := errors.Join(err, w.close()); err != nil {
		return nil, err
	}
	c.files, c.Tree = w.files, w.files.sum()
	if want.Tree != "" && want.Tree != c.Tree {
		return nil, fmt.Errorf("what %s gives now is not what the lock file names: its content has the digest %s, and not %s", text.ShowLine(source.String()), c.Tree, want.Tree)
	}
	if want.Name != "" {
		name = want.Name
	}
	if err := c.look(ctx, name, want); err != nil {
		return nil, err
	}
	c.Package.Notes = append(c.Package.Notes, w.notes...)
	return c, nil
}

// Result counts what an installation brought, in the words of AgenticX.
type Result struct {
	Success bool              `json:"success"`
	Name    string            `json:"name"`
	Version string            `json:"version"`
	Skills  []string          `json:"skills_installed"`
	Servers []string          `json:"mcp_servers_installed"`
	Avatars []string          `json:"avatars_installed"`
	Memory  []string          `json:"memory_templates_installed"`
	Left    map[string]string `json:"left_out,omitempty"`
	Tree    string            `json:"tree"`
}

// Install lets a package count, as it was shown.
func (b *Bundles) Install(ctx context.Context, c *Candidate) (Result, error) {
	release, err := b.hold(ctx)
	if err != nil {
		return Result{}, err
	}
	defer release()
	r, err := b.read()
	if err != nil {
		return Result{}, err
	}
	if err := b.writeTemplates(r); err != nil { // who was killed before this may have left it to us
		return Result{}, err
	}
	name := c.Package.Name
	was, there := r.of(c.project)[name]
	switch {
	case there != (c.Before != nil) || there && was.Tree != c.Before.Tree:
		return Result{}, fmt.Errorf("%s was changed meanwhile by somebody else: look again", name)
	case !there && sameName(r.of(c.project), name) != "":
		return Result{}, fmt.Errorf("%s was installed meanwhile by somebody else: look again", name)
	case c.giveWay(r):
		return Result{}, fmt.Errorf("a bundle was installed meanwhile that has parts called as those of %s: look again", name)
	}
	sum, err := b.keep(c.stage, c.files)
	if err != nil {
		return Result{}, fmt.Errorf("keeping %s: %w", name, err)
	}
	now := Installed{Tree: sum, Source: c.Source.String(), Given: c.given, Sandbox: c.Sandbox, Package: *c.Package, At: b.now().UTC(), Left: c.Left, Values: c.Values, Vault: c.vault}
	if there {
		before := was
		before.Before, before.Templates = nil, nil
		now.Before, now.Templates = slices.Clone(was.Before), was.Templates
		if was.Tree != sum {
			now.Before = append(now.Before, before)
		}
		if len(now.Before) > keptBefore {
			now.Before = now.Before[len(now.Before)-keptBefore:]
		}
	}
	if err := b.plan(r, c.project, &now); err != nil {
		return Result{}, err
	}
	r.set(c.project, name, now)
	if err := b.write(r); err != nil {
		return Result{}, err
	}
	if err := b.settle(r, c.project); err != nil {
		return Result{}, err
	}
	return now.result(), nil
}

func (i Installed) result() Result {
	out := Result{Success: true, Name: i.Package.Name, Version: i.Package.Version, Tree: i.Tree, Left: i.Left, Skills: []string{}, Servers: []string{}, Avatars: []string{}, Memory: []string{}}
	for _, s := range i.Package.Skills {
		out.Skills = append(out.Skills, s.Name)
	}
	for _, s := range i.Package.Servers {
		if i.Left[s.Name] == "" {
			out.Servers = append(out.Servers, s.Name)
		}
	}
	for _, a := range i.Package.Agents {
		out.Avatars = append(out.Avatars, a.Name)
	}
	for _, m := range i.Package.Memory {
		out.Memory = append(out.Memory, m.Name)
	}
	return out
}

// settle makes everything besides the record what the record says. Who was killed before
// it is made up for by the next one.
func (b *Bundles) settle(r *record, project string) error {
	err := errors.Join(b.writeTemplates(r), b.publish(r))
	scopes := append(slices.Collect(maps.Keys(r.Gone)), "", project)
	slices.Sort(scopes)
	for _, p := range slices.Compact(scopes) {
		if file := b.lockOf(p); file != "" {
			err = errors.Join(err, b.writeLock(file, p, r.of(p), r.Gone[p]))
		}
	}
	err = errors.Join(err, b.makeData(r), b.sweep(r))
	b.at("settled")
	if err == nil && len(r.Gone) > 0 {
		r.Gone = nil
		err = b.write(r)
	}
	if err != nil {
		return fmt.Errorf("it counts, but tidying up failed: %w", err)
	}
	return nil
}
