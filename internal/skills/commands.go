package skills

import (
	"fmt"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// scratchVariable names the directory that commands may write for the skill that was used last.
const scratchVariable = "TOOLCRIB_SCRATCH"

// Beside is what commands of a caller see of the skills in use: their directories to read, a directory for each to write,
// and the variable for the one that was used last.
func Beside(box *skill.Box, c toolcrib.Caller) (read, write, env []string) {
	for _, s := range box.Shown(c) {
		read = append(read, s.Folder)
		if s.Scratch != "" {
			write = append(write, s.Scratch)
			env = []string{scratchVariable + "=" + s.Scratch}
		}
	}
	return read, write, env
}

// shows refuses directories that are more than a skill: who has a SKILL.md at home does not mean to show commands all
// that lies there.
func (n Needs) shows(dir string) error {
	if filepath.Dir(dir) == dir {
		return fmt.Errorf("%s is everything there is: move the skill to a directory of its own", dir)
	}
	if n.Home == "" {
		return nil
	}
	for _, home := range []string{n.Home, realPath(n.Home)} {
		if linked.Within(home, dir) {
			return fmt.Errorf("%s holds your home directory: move the skill to a directory of its own", dir)
		}
	}
	return nil
}

func realPath(path string) string {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at
	}
	return path
}
