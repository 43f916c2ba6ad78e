package bundles

import (
	"slices"

	"github.com/toolcrib/toolcrib/internal/bundle"
)

// List gives what is installed: the person's own, and that of the project.
func (b *Bundles) List() (own, project map[string]Installed, err error) {
	r, err := b.read()
	if err != nil {
		return nil, nil, err
	}
	dir, err := b.project(false)
	return r.Bundles, r.Projects[dir], err
}

// Checked is what a look at the files of a package found.
type Checked struct {
	Name    string   `json:"name"`
	Project string   `json:"project,omitempty"`
	Good    bool     `json:"good"`
	Changed []string `json:"changed,omitempty"`
}

// Verify looks at the files of packages: all of them, or one.
func (b *Bundles) Verify(name string) ([]Checked, error) {
	r, err := b.read()
	if err != nil {
		return nil, err
	}
	var out []Checked
	r.all(func(project, n string, i Installed) {
		if name != "" && n != name {
			return
		}
		changed, err := b.check(i.Tree)
		if err != nil {
			changed = []string{err.Error()}
		}
		out = append(out, Checked{n, project, len(changed) == 0, changed})
	})
	if name != "" && out == nil {
		return nil, b.noBundle(r, "", name)
	}
	return out, nil
}

// ServersOf are the names of the servers that a package brings, in all states that it has been in, and nothing else that is
// installed does: what is kept of them goes with it.
func (b *Bundles) ServersOf(name string, inProject bool) ([]string, error) {
	project, err := b.scope(inProject)
	if err == nil {
		err = bundle.CheckName(name)
	}
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
	others := map[string]bool{}
	note := func(in string, of map[string]Installed) {
		for called, o := range of {
			if in != project || called != name {
				for _, s := range serverNames(called, o) {
					others[s] = true
				}
			}
		}
	}
	note("", r.Bundles)
	for in, of := range r.Projects {
		note(in, of)
	}
	return slices.DeleteFunc(serverNames(name, i), func(s string) bool { return others[s] }), nil
}

func serverNames(name string, i Installed) (list []string) {
	for _, state := range append([]Installed{i}, i.Before...) {
		for _, s := range state.Package.Servers {
			list = append(list, bundle.PartName(name, s.Name))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
