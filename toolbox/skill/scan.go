package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolcrib/toolcrib/files"
)

// scanPlaces goes through all places. What cannot be read is told and left out; only
// the end of ctx is an error.
func (b *Box) scanPlaces(ctx context.Context) (*foundSkills, error) {
	found := &foundSkills{}
	seen := map[string]Skill{}
	places := b.cfg.Places
	if b.needs.More != nil {
		places = slices.Concat(places, b.needs.More())
	}
	for _, p := range places {
		skills, err := b.in(ctx, p, found)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			found.skip(p.Path, err.Error())
		}
		for _, s := range skills {
			switch first, twice := seen[s.Name]; {
			case slices.Contains(b.cfg.Hide, s.Name):
			case twice && first.Path == s.Path: // two places hold it
			case twice:
				found.skip(s.Path, fmt.Sprintf("another skill is called %s: the one in %s", s.Name, first.Path))
			case len(found.skills) == b.cfg.MaxSkills:
				found.skip(s.Path, fmt.Sprintf("there are %d skills already, and no more are taken", b.cfg.MaxSkills))
			default:
				seen[s.Name] = s
				found.skills = append(found.skills, s)
			}
		}
	}
	slices.SortFunc(found.skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	b.noteFound(found)
	return found, nil
}

// noteFound notes what was found, and tells what is new about it: a look is taken
// often, and says the same each time.
func (b *Box) noteFound(found *foundSkills) {
	b.mu.Lock()
	before := b.last
	b.last = found
	b.mu.Unlock()
	if before == nil || !slices.Equal(before.skipped, found.skipped) {
		for _, s := range found.skipped {
			b.needs.Log.Warn("a skill is left out", "path", s.Path, "reason", s.Reason)
		}
	}
	if before == nil || !slices.Equal(before.odd, found.odd) {
		for _, s := range found.odd {
			b.needs.Log.Info("a skill is odd", "path", s.Path, "reason", s.Reason)
		}
	}
}

// maxSkipped bounds what is told of what was left out.
const maxSkipped = 100

func (f *foundSkills) skip(path, reason string) { f.skipped = noted(f.skipped, path, reason) }

func noted(list []Skipped, path, reason string) []Skipped {
	if len(list) == maxSkipped {
		return list
	}
	return append(list, Skipped{clean(path, 500), clean(reason, 500)})
}

// in finds the skills of one place.
func (b *Box) in(ctx context.Context, p Place, found *foundSkills) (skills []Skill, err error) {
	handle, err := b.needs.Open(p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	var read []described
	if p.File {
		read = append(read, b.readFile(handle, p))
	} else if read, err = b.walk(ctx, handle, p, found); err != nil {
		return nil, err
	}
	for _, r := range read {
		switch {
		case r.err != nil:
			found.skip(r.skill.Path, r.err.Error())
			continue
		case r.needs != "":
			found.gated = noted(found.gated, r.skill.Path, "needs "+r.needs)
			continue
		}
		for _, note := range r.notes {
			found.odd = noted(found.odd, r.skill.Path, note)
		}
		skills = append(skills, r.skill)
	}
	return skills, nil
}

// root is the directory that dir is below.
func (s *Skill) root() string {
	if s.place.File {
		return filepath.Dir(s.place.Path)
	}
	return s.place.Path
}

// directory is the absolute path of the skill's own directory.
func (s *Skill) directory() string { return filepath.Join(s.root(), filepath.FromSlash(s.dir)) }

// spelling is how the file may be called; the first one counts.
func spelling() []string { return []string{"SKILL.md", "skill.md"} }

// walk finds and reads the files of skills below a place. It does not look into a skill
// for others: what lies there are templates.
func (b *Box) walk(ctx context.Context, handle *files.Handle, p Place, found *foundSkills) ([]described, error) {
	var dirs atomic.Int64
	var list []described
	visit := func(d *files.Folder) error {
		if dirs.Add(1) > int64(b.cfg.MaxDirs) {
			return fs.SkipAll
		}
		for _, name := range spelling() {
			if slices.ContainsFunc(d.Entries, func(e files.Entry) bool { return e.Name == name && e.Type.IsRegular() }) {
				d.Value = b.readIn(d, p, name)
				d.Entries = nil
				return nil
			}
		}
		deep := d.Path != "." && strings.Count(d.Path, "/")+1 >= b.cfg.MaxDepth
		var links []string
		d.Entries = slices.DeleteFunc(d.Entries, func(e files.Entry) bool {
			if e.Type&fs.ModeSymlink != 0 {
				links = append(links, e.Name)
			}
			return deep || e.Name == ".git" || e.Name == "node_modules"
		})
		slices.Sort(links)
		d.Value = links
		return nil
	}
	emit := func(d *files.Folder) error {
		switch v := d.Value.(type) {
		case described:
			list = append(list, v)
		case []string:
			for _, link := range v {
				found.skip(filepath.Join(p.Path, filepath.FromSlash(d.Path), link), "links are not followed; name the place it leads to in the settings")
			}
		}
		if d.Err != nil && d.Path != "." {
			found.skip(filepath.Join(p.Path, filepath.FromSlash(d.Path)), d.Err.Error())
		}
		return nil
	}
	if err := handle.Walk(ctx, p.Path, visit, emit); err != nil {
		return nil, err
	}
	if dirs.Load() > int64(b.cfg.MaxDirs) {
		found.skip(p.Path, fmt.Sprintf("it has more than %d directories; some were not looked at", b.cfg.MaxDirs))
	}
	return list, nil
}
