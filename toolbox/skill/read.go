package skill

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"

	"github.com/toolcrib/toolcrib/files"
)

// contentKey names what was read: the same text in the same folder says the same.
type contentKey struct {
	dir  string // the name of the folder, which stands for a name that is missing
	hash [sha256.Size]byte
}

// described is what a text says of its skill.
type described struct {
	skill Skill
	notes []string
	needs string // of this machine, and it has not; empty: nothing
	err   error
}

// readFile reads the one file that a place is.
func (b *Box) readFile(handle *files.Handle, p Place) described {
	s := b.blank(p, filepath.Base(p.Path))
	text, _, err := handle.ReadFile(s.Path, b.cfg.MaxText)
	if err != nil {
		return described{skill: s, err: err}
	}
	return b.readText(s, text)
}

// readIn reads a file of a folder that is walked through.
func (b *Box) readIn(d *files.Folder, p Place, name string) described {
	s := b.blank(p, path.Join(d.Path, name))
	file, err := d.Open(name)
	if err != nil {
		return described{skill: s, err: err}
	}
	text, err := io.ReadAll(io.LimitReader(file, b.cfg.MaxText+1))
	if err = errors.Join(err, file.Close()); err == nil && int64(len(text)) > b.cfg.MaxText {
		err = fmt.Errorf("it is larger than %d bytes", b.cfg.MaxText)
	}
	if err != nil {
		return described{skill: s, err: err}
	}
	return b.readText(s, text)
}

// blank is a skill of which only the place is known.
func (b *Box) blank(p Place, name string) Skill {
	s := Skill{Scope: p.Scope, place: p, dir: path.Dir(name), file: path.Base(name)}
	s.Path = filepath.Join(s.root(), filepath.FromSlash(name))
	return s
}

// readText gives what a text says of a skill, from what is known if it can.
func (b *Box) readText(s Skill, text []byte) described {
	key := contentKey{dir: path.Base(s.dir), hash: sha256.Sum256(text)}
	b.mu.Lock()
	d, known := b.known[key]
	b.mu.Unlock()
	if !known {
		d.skill = s
		d.notes, d.err = b.describe(&d.skill, text)
		b.keep(key, d)
	}
	// What the text says is the same wherever it lies; where it lies is not.
	d.skill.sum = key.hash
	d.skill.Scope, d.skill.place, d.skill.dir, d.skill.file, d.skill.Path = s.Scope, s.place, s.dir, s.file, s.Path
	if d.err == nil {
		d.needs = d.skill.Gate.Needs(b.needs.Machine)
	}
	return d
}

// maxKept bounds what is kept of texts. When it is full all of it is forgotten: a look
// reads them again.
const maxKept = 50_000

func (b *Box) keep(key contentKey, d described) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil || len(b.known) >= maxKept {
		b.known = map[contentKey]described{}
	}
	b.known[key] = d
}
