package bundles

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// templateDir is where memory templates lie in the folder of the memory box. No memory of
// a person is called so: what a stranger wrote is not remembered until somebody takes it
// over.
const templateDir = "@templates"

const maxTemplate = 1 << 20

// plan says which memory templates a package is to have, beside those it has.
func (b *Bundles) plan(r *record, project string, i *Installed) error {
	if b.Memory == "" || len(i.Package.Memory) == 0 && len(i.Templates) == 0 {
		return nil
	}
	wanted := map[string]string{}
	for _, m := range i.Package.Memory {
		data, err := plainfile.Read(filepath.Join(b.root(i.Tree), filepath.FromSlash(m.File)), maxTemplate)
		if err != nil {
			return fmt.Errorf("the memory template %s: %w", m.Name, err)
		}
		name := path.Join(templateDir, i.Package.Name, strings.TrimSuffix(m.Name, ".md")+".md")
		if _, ours := i.Templates[name]; !ours {
			if _, err := os.Lstat(filepath.Join(b.Memory, filepath.FromSlash(name))); err == nil {
				i.Package.Notes = append(slices.Clone(i.Package.Notes), bundle.Note{Path: m.File, Text: "a memory template of this name is there already, and stays"})
				continue
			}
			taken := false
			r.all(func(p, n string, other Installed) {
				_, has := other.Templates[name]
				taken = taken || has && (p != project || n != i.Package.Name)
			})
			if taken {
				continue
			}
		}
		wanted[name] = digest(data)
	}
	i.Templates, i.Earlier = wanted, i.Templates
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// writeTemplates writes the memory templates that are missing. One that was changed by the
// person is left as it is.
func (b *Bundles) writeTemplates(r *record) error {
	if b.Memory == "" {
		return nil
	}
	var errs []error
	r.all(func(_, _ string, i Installed) {
		for _, m := range i.Package.Memory {
			name := path.Join(templateDir, i.Package.Name, strings.TrimSuffix(m.Name, ".md")+".md")
			if want, ours := i.Templates[name]; ours {
				errs = append(errs, b.writeTemplate(name, want, i.Earlier[name], filepath.Join(b.root(i.Tree), filepath.FromSlash(m.File))))
			}
		}
		_, err := b.dropTemplates(without(i.Earlier, i.Templates))
		errs = append(errs, err)
	})
	return errors.Join(errs...)
}

// without is what of a map another one does not have.
func without(m, other map[string]string) map[string]string {
	m = maps.Clone(m)
	maps.DeleteFunc(m, func(name, _ string) bool { return taken(other, name) })
	return m
}

func (b *Bundles) writeTemplate(name, want, earlier, from string) error {
	data, err := plainfile.Read(from, maxTemplate)
	if err != nil || digest(data) != want {
		return nil // the package was changed, which is told when it is loaded
	}
	if err := os.MkdirAll(b.Memory, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(b.Memory)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was written was closed before
	if _, err := root.Lstat(filepath.FromSlash(name)); err == nil {
		if got, err := (listing{}).look(root, filepath.FromSlash(name)); err != nil || got.SHA256 == want || got.SHA256 != earlier {
			return err
		}
	}
	b.at("template")
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o700); err != nil {
		return err
	}
	// Beside it first: half a template would be taken for one that a person changed.
	half := filepath.FromSlash(name) + ".new"
	if err := root.WriteFile(half, data, 0o600); err != nil {
		return err
	}
	b.at("half a template")
	return root.Rename(half, filepath.FromSlash(name))
}

// dropTemplates removes templates that were written and that nobody changed since. It
// names those that stay.
func (b *Bundles) dropTemplates(list map[string]string) (stay []string, err error) {
	if b.Memory == "" || len(list) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(b.Memory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for name, want := range list {
		local := filepath.FromSlash(name)
		if !filepath.IsLocal(local) || !strings.HasPrefix(name, templateDir+"/") {
			continue
		}
		_ = root.Remove(local + ".new") // of who was killed; mostly there is none
		f, _, openErr := plainfile.OpenIn(root, local, os.O_RDONLY, 0)
		if errors.Is(openErr, fs.ErrNotExist) {
			continue
		}
		if openErr != nil {
			stay = append(stay, name)
			continue
		}
		got, lookErr := listing{}.look(root, local)
		_ = f.Close() // it was only read
		if lookErr != nil || got.SHA256 != want {
			stay = append(stay, name)
			continue
		}
		if err := root.Remove(local); err != nil {
			return stay, err
		}
		b.at("template dropped")
		_ = root.Remove(filepath.Dir(local)) // only where it is empty
		_ = root.Remove(templateDir)
		_ = os.Remove(b.Memory)
	}
	return stay, nil
}
