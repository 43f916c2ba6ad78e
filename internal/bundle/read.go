package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// ErrNone means that nothing in a folder says which kind of package it is.
var ErrNone = errors.New("this is no package: there is neither a plugin.json, a gemini-extension.json, an agx-bundle.yaml, a manifest.json of an MCP bundle, a server.json nor a SKILL.md")

// The bounds of what is read.
const (
	maxManifest = 1 << 20
	maxText     = 256 << 10
	maxParts    = 200 // of each kind
)

// format is one kind of package.
type format struct {
	name string
	// is reports whether the files are of this kind.
	is   func(r *reader) bool
	read func(r *reader) error
}

// formats is the list, the most telling first. A new one is a file and a line.
func formats() []format {
	return []format{
		{"agent-plugin", isAgentPlugin, readAgentPlugin},
		{"codex-plugin", has(".codex-plugin/plugin.json"), readClaude(".codex-plugin")},
		{"claude-plugin", has(".claude-plugin/plugin.json"), readClaude(".claude-plugin")},
		{"cursor-plugin", has(".cursor-plugin/plugin.json"), readClaude(".cursor-plugin")},
		{"gemini-extension", has("gemini-extension.json"), readGemini},
		{"agx-bundle", has("agx-bundle.yaml"), readAgx},
		{"mcpb", isMCPB, readMCPB},
		{"mcp-server", has("server.json"), readServerJSON},
		{"skills", isBare, readBare},
	}
}

// Formats names the kinds that are read.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// reader reads one package.
type reader struct {
	servers map[string]bool // the files of servers that were read
	files   Files
	needs   Needs
	Package
}

// Read reads a package. An error says why there is none; what is wrong with a part of it
// is in the notes.
func Read(files Files, needs Needs) (*Package, error) {
	for _, f := range formats() {
		r := &reader{files: files, needs: needs}
		if !f.is(r) {
			continue
		}
		r.Format = f.name
		if err := f.read(r); err != nil {
			return nil, fmt.Errorf("reading this %s: %w", f.name, err)
		}
		if err := CheckName(r.Name); err != nil {
			return nil, err
		}
		r.finish()
		return &r.Package, nil
	}
	return nil, ErrNone
}

// finish puts what was read in order: each name once, texts as they can be shown.
func (r *reader) finish() {
	r.Version, r.Description, r.Author = shown(r.Version, 100), shown(r.Description, 2000), shown(r.Author, 200)
	r.License, r.Homepage = shown(r.License, 200), shown(r.Homepage, 500)
	r.Skills = once(r, "skill", r.Skills, func(s Skill) string { return s.Name }, skillName)
	r.Servers = once(r, "server", r.Servers, func(s Server) string { return s.Name }, CheckName)
	r.Agents = once(r, "agent", r.Agents, func(a Agent) string { return a.Name }, CheckName)
	r.Memory = once(r, "memory template", r.Memory, func(m Memory) string { return m.Name }, CheckName)
	for i := range r.Servers {
		Launches(&r.Servers[i])
	}
	slices.SortFunc(r.Inert, func(a, b Inert) int { return strings.Compare(a.Kind+"\x00"+a.Path, b.Kind+"\x00"+b.Path) })
}

// once leaves out what has a name that cannot be, or that another one has, also in other
// letter case: on some systems both would be one file.
func once[P any](r *reader, kind string, list []P, nameOf func(P) string, check func(name string) error) []P {
	seen := map[string]bool{}
	var out []P
	for _, p := range list {
		name := nameOf(p)
		if err := check(name); err != nil {
			r.note("", "a %s is left out: %v", kind, err)
			continue
		}
		if seen[strings.ToLower(name)] {
			r.note("", "a second %s %s is left out", kind, name)
			continue
		}
		if len(out) == maxParts {
			r.note("", "more than %d of kind %s; the rest is left out", maxParts, kind)
			break
		}
		seen[strings.ToLower(name)] = true
		out = append(out, p)
	}
	return out
}

// skillName: what a skill is called becomes neither a file nor a tool, and people write
// whole words. It only has to be one that can be seen.
func skillName(name string) error {
	if name == "" || name != shown(name, maxName) {
		return fmt.Errorf("the name %q is empty, too long, or has signs that cannot be seen", shown(name, maxName))
	}
	return nil
}

func shown(s string, most int) string {
	return text.ClipRunes(text.ShowLine(strings.TrimSpace(s)), most)
}

func (r *reader) note(at, form string, args ...any) {
	if len(r.Notes) < 10*maxParts {
		r.Notes = append(r.Notes, Note{at, shown(fmt.Sprintf(form, args...), 500)})
	}
}

// addSkill reads the SKILL.md of a folder.
func (r *reader) addSkill(dir string) {
	if slices.ContainsFunc(r.Skills, func(s Skill) bool { return s.Dir == dir }) {
		return // a manifest names the usual folder as well
	}
	name := path.Join(dir, "SKILL.md")
	data, err := r.text(name, maxText)
	if err != nil {
		r.note(name, "the skill is left out: %v", err)
		return
	}
	if r.needs.Skill == nil {
		r.note(name, "the skill is left out: nobody reads skills here")
		return
	}
	folder := path.Base(dir)
	if dir == "." {
		folder = r.Name
	}
	s, notes, err := r.needs.Skill(folder, data)
	if err != nil {
		r.note(name, "the skill is left out: %v", err)
		return
	}
	for _, n := range notes {
		r.note(name, "%s", n.Text)
	}
	s.Dir = dir
	r.Skills = append(r.Skills, s)
}

// addSkillsBelow adds the folders directly below one that have a SKILL.md.
func (r *reader) addSkillsBelow(dir string) {
	if !r.isDir(dir) {
		return
	}
	entries, err := fs.ReadDir(r.files, dir)
	if err != nil {
		r.note(dir, "it cannot be read: %v", err)
		return
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		if !e.IsDir() || !r.isFile(path.Join(at, "SKILL.md")) {
			continue
		}
		if _, err := CheckPath(at); err != nil {
			r.note(at, "the skill is left out: %v", err)
			continue
		}
		r.addSkill(at)
	}
}

// inert notes parts that are not run here.
func (r *reader) inert(kind string, paths ...string) {
	for _, p := range paths {
		if r.isFile(p) || r.isDir(p) {
			r.Inert = append(r.Inert, Inert{kind, p})
		}
	}
}
