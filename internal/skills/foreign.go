package skills

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/linked"
)

// foreign says why a file in a folder of the person may be the text of somebody else. Nil: only
// the person can have written it.
func (n Needs) foreign(path string, info fs.FileInfo) error {
	target := realPath(path)
	switch {
	case n.Writes == nil || n.Writes(path) || n.Writes(target):
		return errors.New("tools may write it, so an agent can have done so")
	case n.inProject(path) || n.inProject(target):
		return errors.New("it is a part of the project, which others write too")
	case n.byOthers(path) || n.byOthers(target):
		return errors.New("another program installed it, and Toolcrib did not ask you about it")
	}
	if info == nil {
		var err error
		if info, err = os.Lstat(path); err != nil {
			return err
		}
	}
	if who := config.OtherWriter(path, info); who != "" {
		return errors.New(who)
	}
	return nil
}

// inProject reports whether a file is a part of the project that the program was started in. A
// directory that holds the home directory is no project.
func (n Needs) inProject(path string) bool {
	if n.Dir == "" {
		return false
	}
	top := n.Dir
	if dirs := above(n.Dir, n.Home); len(dirs) > 0 {
		top = dirs[len(dirs)-1]
	}
	for _, dir := range []string{top, realPath(top)} {
		if linked.Within(path, dir) && (n.Home == "" || !linked.Within(n.Home, dir)) {
			return true
		}
	}
	return false
}

// byOthers knows the folder in which AgenticX keeps the bundles that it installs.
func (n Needs) byOthers(path string) bool {
	if n.Home == "" {
		return false
	}
	below := filepath.Join(".agenticx", "skills", "bundles")
	return linked.Within(path, filepath.Join(n.Home, below)) || linked.Within(path, filepath.Join(realPath(n.Home), below))
}
