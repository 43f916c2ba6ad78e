package bundle

import (
	"io/fs"
	"path"
)

// isBare: a folder that is a skill, or one with skills in it.
func isBare(r *reader) bool {
	if r.isFile("SKILL.md") {
		return true
	}
	for _, dir := range []string{"skills", ".claude/skills", ".agents/skills", "."} {
		if !r.isDir(dir) {
			continue
		}
		entries, err := fs.ReadDir(r.files, dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() && r.isFile(path.Join(dir, e.Name(), "SKILL.md")) {
				return true
			}
		}
	}
	return false
}

// readBare reads folders of skills without a manifest. They have no name of their own:
// that is for whoever installs them to give.
func readBare(r *reader) error {
	r.Name = r.needs.Name
	if r.isFile("SKILL.md") {
		r.addSkill(".")
		if len(r.Skills) == 1 && r.Name == "" {
			r.Name = r.Skills[0].Name
		}
		return nil
	}
	for _, dir := range []string{"skills", ".claude/skills", ".agents/skills", "."} {
		r.addSkillsBelow(dir)
	}
	return nil
}
