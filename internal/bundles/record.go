package bundles

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/bundle"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/seal"
)

// record is what is installed: the one truth. It is sealed, since it decides what runs.
type record struct {
	// Bundles are the person's own, by name.
	Bundles map[string]Installed `json:"bundles,omitempty"`
	// Projects are those of projects, by the directory of the project.
	Projects map[string]map[string]Installed `json:"projects,omitempty"`
	// Gone are packages that were removed and that a lock file may still name, by project.
	Gone map[string][]string `json:"gone,omitempty"`
}

// Installed is a package that a person said yes to, as it was shown.
type Installed struct {
	Tree    string         `json:"tree"`
	Source  string         `json:"source"` // with commit or digest
	Given   string         `json:"given"`  // as the person wrote it, for updates
	Package bundle.Package `json:"package"`
	At      time.Time      `json:"at"`
	// Left are servers that are left out, by name, and why.
	Left map[string]string `json:"left,omitempty"`
	// Values is what the person gave for what it asks for. Secrets are in the vault.
	Values map[string]string `json:"values,omitempty"`
	// Vault is what its secrets begin with in the vault.
	Vault string `json:"vault,omitempty"`
	// Sandbox is where its servers run; empty: where servers of the settings do.
	Sandbox string `json:"sandbox,omitempty"`
	// Templates are the memory templates that were written, by the path below the folder
	// of the memory box, with their digests.
	Templates map[string]string `json:"templates,omitempty"`
	// Earlier are those of the state before, which make way where nobody changed them.
	Earlier map[string]string `json:"earlier_templates,omitempty"`
	// Before are earlier states to go back to, the latest last.
	Before []Installed `json:"before,omitempty"`
}

// vault is what its secrets begin with; those of packages that were installed before this
// was kept have no more than the name.
func (i Installed) vault() string { return cmp.Or(i.Vault, "bundle."+i.Package.Name) }

// keptBefore is how many earlier states of a package are kept.
const keptBefore = 3

const sealName = "bundles"

// RecordFile is where it is written what is installed.
func RecordFile(state string) string { return filepath.Join(state, "bundles", "record.json") }

func (b *Bundles) recordFile() string { return RecordFile(b.State) }

// read gives the record. One that cannot be believed is an error: nothing of it counts.
func (b *Bundles) read() (*record, error) {
	r := &record{}
	if b.State == "" {
		return r, nil
	}
	if _, err := os.Lstat(b.recordFile()); errors.Is(err, os.ErrNotExist) {
		return r, nil // nothing is installed, which is never too much
	}
	box, err := seal.OfState(b.State, false)
	if err != nil {
		return nil, fmt.Errorf("reading what bundles are installed: %w", err)
	}
	data, known, err := box.Read(sealName, func() ([]byte, error) { return os.ReadFile(b.recordFile()) })
	switch {
	case errors.Is(err, seal.ErrUnknown) || err == nil && !known:
		return nil, fmt.Errorf("%s was not written by this program, and no bundle counts: remove it, and install the bundles again", b.recordFile())
	case err != nil:
		return nil, fmt.Errorf("%s cannot be believed, and no bundle counts (%w): remove it, and install the bundles again", b.recordFile(), err)
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", b.recordFile(), err)
	}
	return r, nil
}

// write replaces the record as a whole. This is the moment at which a change counts.
func (b *Bundles) write(r *record) error {
	maps.DeleteFunc(r.Projects, func(_ string, of map[string]Installed) bool { return len(of) == 0 })
	box, err := seal.OfState(b.State, true)
	if err != nil {
		return fmt.Errorf("keeping what bundles are installed: %w", err)
	}
	b.at("record")
	if len(r.Bundles)+len(r.Projects)+len(r.Gone) == 0 {
		err = box.Forget(sealName, func() error {
			if err := os.Remove(b.recordFile()); !errors.Is(err, os.ErrNotExist) {
				return err
			}
			return nil
		})
	} else {
		data, encodeErr := json.Marshal(r)
		if encodeErr != nil {
			return encodeErr
		}
		err = box.Write(sealName, data, func(sealed []byte) error {
			b.at("record file")
			return durable.ReplaceLocked(b.recordFile(), sealed, 0o600)
		})
	}
	if err != nil {
		return fmt.Errorf("keeping what bundles are installed: %w", err)
	}
	b.at("recorded")
	return nil
}

// of are the packages of a scope: of a project's directory, or the person's own.
func (r *record) of(project string) map[string]Installed {
	if project == "" {
		return r.Bundles
	}
	return r.Projects[project]
}

func (r *record) set(project, name string, i Installed) {
	if project == "" {
		if r.Bundles == nil {
			r.Bundles = map[string]Installed{}
		}
		r.Bundles[name] = i
		return
	}
	if r.Projects == nil {
		r.Projects = map[string]map[string]Installed{}
	}
	if r.Projects[project] == nil {
		r.Projects[project] = map[string]Installed{}
	}
	r.Projects[project][name] = i
}

// all gives every state that is kept, with the name of its package.
func (r *record) all(each func(project, name string, i Installed)) {
	for _, name := range slices.Sorted(maps.Keys(r.Bundles)) {
		each("", name, r.Bundles[name])
	}
	for _, project := range slices.Sorted(maps.Keys(r.Projects)) {
		for _, name := range slices.Sorted(maps.Keys(r.Projects[project])) {
			each(project, name, r.Projects[project][name])
		}
	}
}

// trees are the contents that something still needs.
func (r *record) trees() map[string]bool {
	out := map[string]bool{}
	r.all(func(_, _ string, i Installed) {
		out[i.Tree] = true
		for _, before := range i.Before {
			out[before.Tree] = true
		}
	})
	return out
}

// agxRecord is the record in the form of AgenticX, for who reads that.
type agxRecord struct {
	Name        string   `json:"name"`
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Author      string   `json:"author"`
	InstalledAt string   `json:"installed_at"`
	Source      string   `json:"source_dir"`
	Skills      []string `json:"skills"`
	Servers     []string `json:"mcp_servers"`
	Avatars     []string `json:"avatars"`
	Memory      []string `json:"memory_templates"`
}

// publish writes bundles.json, which says what is installed and decides nothing.
func (b *Bundles) publish(r *record) error {
	file := filepath.Join(b.dir(), "bundles.json")
	if len(r.Bundles) == 0 {
		if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	list := map[string]agxRecord{}
	for name, i := range r.Bundles {
		parts := i.result()
		list[name] = agxRecord{
			Name: name, Version: i.Package.Version, Description: i.Package.Description, Author: i.Package.Author, InstalledAt: i.At.UTC().Format("2006-01-02T15:04:05.000000+00:00"), Source: i.Source,
			Skills: parts.Skills, Servers: parts.Servers, Avatars: parts.Avatars, Memory: parts.Memory,
		}
	}
	data, err := json.MarshalIndent(map[string]any{"bundles": list}, "", "  ")
	if err != nil {
		return err
	}
	return durable.ReplaceLocked(file, append(data, '\n'), 0o600)
}
