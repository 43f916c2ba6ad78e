package skill

import (
	"errors"

	"github.com/toolcrib/toolcrib"
)

// Shown is what commands of a session see of a skill that it uses.
type Shown struct {
	Name    string
	Folder  string // its directory, after links
	Scratch string // what they may write; empty: nothing
}

// Shown are the skills that commands of a session see, the one that was used last at the end. It is no more
// than read_skill_file reads: a skill whose directory cannot be shown is left out.
func (b *Box) Shown(c toolcrib.Caller) []Shown {
	if b.needs.Scratch == nil {
		return nil
	}
	var list []Shown
	used := b.active.list(c)
	for i, u := range used {
		at, err := b.folder(u.Skill)
		if err != nil {
			b.needs.Log.Debug("commands see nothing of a skill", "skill", u.Name, "err", err)
			continue
		}
		one := Shown{Name: u.Name, Folder: at}
		// Some clients read all that there is: of skills that were only read, the last one has a directory to write.
		if u.followed || i == len(used)-1 {
			if one.Scratch, err = b.needs.Scratch(u.by.caller(), u.Name); err != nil {
				b.needs.Log.Warn("commands have no directory to write for a skill", "skill", u.Name, "err", err)
			}
		}
		list = append(list, one)
	}
	return list
}

// folder is the directory of a skill as commands are shown it. It is looked at each time: it may have become a
// link since, or something that is protected.
func (b *Box) folder(s Skill) (at string, err error) {
	if s.place.File {
		return "", errors.New("it is a single file, and nothing beside it belongs to it")
	}
	handle, err := b.needs.Open(s.place)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	if _, err := handle.Stat(s.directory()); err != nil {
		return "", err
	}
	if at, err = handle.Real(s.directory()); err == nil && b.needs.Shows != nil {
		err = b.needs.Shows(at)
	}
	return at, err
}
