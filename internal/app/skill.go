package app

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// skillDirs is where programs keep skills, below a home or a project.
func skillDirs() []string {
	return []string{filepath.Join(".agents", "skills"), filepath.Join(".claude", "skills")}
}

// skillPlaces says where skills are looked for. A path that ends in .md is a file.
func skillPlaces(c settings.SkillBox, dir, home string) []skill.Place {
	var list []skill.Place
	for _, text := range c.Paths {
		path := text
		if rest, tilde := strings.CutPrefix(text, "~"); tilde && home != "" && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
			path = filepath.Join(home, rest)
		} else if !filepath.IsAbs(path) && dir != "" {
			path = filepath.Join(dir, path)
		}
		list = append(list, skill.Place{Path: filepath.Clean(path), File: isSkillFile(path), Scope: "settings"})
	}
	for _, below := range skillDirs() {
		if c.Project && dir != "" {
			list = append(list, skill.Place{Path: filepath.Join(dir, below), Scope: scopeProject})
		}
	}
	for _, below := range skillDirs() {
		if c.User && home != "" {
			list = append(list, skill.Place{Path: filepath.Join(home, below), Scope: "user"})
		}
	}
	return list
}

const scopeProject = "project"

// isSkillFile tells a file from a directory by its name: neither need exist yet.
func isSkillFile(path string) bool { return strings.EqualFold(filepath.Ext(path), ".md") }

// openSkill opens the box.
func (a *App) openSkill(ctx context.Context, cfg settings.SkillBox, shown func(text string, from, to int) (string, error)) (toolcrib.Toolbox, error) {
	box, err := skill.Open(ctx, skill.Config{Places: skillPlaces(cfg, a.reach.Base, a.policy.home), Hide: cfg.Hide},
		skill.Needs{Open: a.openPlace, YAML: config.Decode, Shown: shown, Log: a.Crib.Log})
	if err != nil {
		return nil, err
	}
	return box, nil
}

// openPlace gives a handle to read below a place of skills. What is protected
// stays so, and a project cannot have a link stand for its place.
func (a *App) openPlace(p skill.Place) (*files.Handle, error) {
	dir := p.Path
	if p.File {
		dir = filepath.Dir(dir)
	}
	opt := files.Options{Base: dir, Protected: a.reach.Files.Protected}
	if p.Scope == scopeProject {
		opt.Within = []string{a.reach.Base}
	}
	return files.New([]files.Dir{{Path: dir}}, opt)
}

// putUp puts a shelving up, and with it what depends on what there is: on a bus
// what stands in for boxes that are switched off, and a tool for each skill in
// the dialect that has those.
func (a *App) putUp(ctx context.Context, s toolcrib.Contents) (toolcrib.Diff, []toolcrib.LoadError) {
	s = a.hosted.standIns(s)
	var box *skill.Box
	for _, b := range s.Boxes {
		if of, ok := b.(*skill.Box); ok {
			box = of
		}
	}
	if box == nil {
		return a.Crib.Catalog.Load(ctx, s)
	}
	found, err := box.Skills(ctx)
	var skills []dialect.Skill
	for _, f := range found {
		skills = append(skills, dialect.Skill{Name: f.Name, Description: f.Description})
	}
	plain := s.Adapters
	put := func() (diff toolcrib.Diff, faults []toolcrib.LoadError, clash bool) {
		taken := a.taken(plain)
		more, left := dialect.OVOSSkills(skills, box.Runs(), func(name string) bool { return taken[name] })
		s.Adapters = slices.Concat(plain, more)
		diff, faults = a.Crib.Catalog.Load(ctx, s)
		now := a.taken(plain)
		return diff, append(faults, left...), slices.ContainsFunc(more, func(m toolcrib.Adapter) bool { return now[m.Name] })
	}
	diff, faults, clash := put()
	if clash { // a tool came that has the name which a skill was given
		_, faults, _ = put()
	}
	if err != nil {
		faults = append(faults, toolcrib.LoadError{Box: box.Name(), Err: err})
	}
	return diff, faults
}

// taken gives the names that tools other than skills have on a bus.
func (a *App) taken(adapters []toolcrib.Adapter) map[string]bool {
	names := map[string]bool{"list_skills": true, "use_skill": true, "read_skill_file": true, "run_skill": true}
	for _, a := range adapters {
		if a.Dialect == dialect.OVOS {
			names[a.Name] = true
		}
	}
	shelves := toolcrib.Crib{Catalog: a.Crib.Catalog}
	for spec := range shelves.Tools(toolcrib.Caller{Dialect: dialect.OVOS}) {
		if spec.Box != "skill" {
			names[spec.Name], names[spec.Native] = true, true
		}
	}
	return names
}
