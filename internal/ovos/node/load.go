package node

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// Load puts a shelving up, and with it what depends on what there is: on a bus
// what stands in for boxes that are switched off, and a tool for each skill in
// the dialect that has those.
func (h *Hosted) Load(ctx context.Context, catalog *toolcrib.Catalog, s toolcrib.Contents) (toolcrib.Diff, []toolcrib.LoadError) {
	s = h.StandIns(s)
	diff, faults := h.load(ctx, catalog, s)
	return diff, append(faults, h.clashes(s.Boxes)...)
}

func (h *Hosted) load(ctx context.Context, catalog *toolcrib.Catalog, s toolcrib.Contents) (toolcrib.Diff, []toolcrib.LoadError) {
	var box *skill.Box
	for _, b := range s.Boxes {
		if of, ok := b.(*skill.Box); ok {
			box = of
		}
	}
	if box == nil {
		return catalog.Load(ctx, s)
	}
	found, err := box.Skills(ctx)
	var skills []dialect.Skill
	for _, f := range found {
		skills = append(skills, dialect.Skill{Name: f.Name, Description: f.Description})
	}
	plain := s.Adapters
	var beyond []toolcrib.LoadError
	if n := len(skills) - maxSkillTools; n > 0 {
		skills = skills[:maxSkillTools]
		beyond = []toolcrib.LoadError{{Box: box.Name(), Err: fmt.Errorf("%d skills have no tool of their own on a bus, where at most %d have one; list_skills and use_skill have all of them", n, maxSkillTools)}}
	}
	put := func() (diff toolcrib.Diff, faults []toolcrib.LoadError, clash bool) {
		given := taken(catalog, plain)
		more, left := dialect.OVOSSkills(skills, box.Runs(), func(name string) bool { return given[name] })
		s.Adapters = slices.Concat(plain, more)
		diff, faults = catalog.Load(ctx, s)
		now := taken(catalog, plain)
		return diff, append(faults, left...), slices.ContainsFunc(more, func(m toolcrib.Adapter) bool { return now[m.Name] })
	}
	diff, faults, clash := put()
	if clash { // a tool came that has the name which a skill was given
		_, faults, _ = put()
	}
	if err != nil {
		faults = append(faults, toolcrib.LoadError{Box: box.Name(), Err: err})
	}
	return diff, append(faults, beyond...)
}

// maxSkillTools is how many skills are tools of their own: no assistant picks one out of
// more, and each costs time in which the program starts.
const maxSkillTools = 500

// taken gives the names that tools other than skills have on a bus.
func taken(catalog *toolcrib.Catalog, adapters []toolcrib.Adapter) map[string]bool {
	names := map[string]bool{"list_skills": true, "use_skill": true, "read_skill_file": true, "run_skill": true, "skill_prompt": true}
	for _, a := range adapters {
		if a.Dialect == dialect.OVOS {
			names[a.Name] = true
		}
	}
	shelves := toolcrib.Crib{Catalog: catalog}
	for spec := range shelves.Tools(toolcrib.Caller{Dialect: dialect.OVOS}) {
		if spec.Box != "skill" {
			names[spec.Name], names[spec.Native] = true, true
		}
	}
	return names
}
