package sandbox

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/gitconfig"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// What a program left behind is judged by what there was before. If we are
// killed, nobody knows that any more. So it is written down before a program
// starts. Whoever finds it without a lock later judges in our place: the keeper,
// or the next start.

// Unswept is what was written down for one program.
type Unswept struct{ file *os.File }

// before is what is written down. Names of files need not be text.
type before struct {
	Dirs     []files.Dir
	Gits     map[string]FileID
	Covers   []Cover
	WriteGit bool
	Home     string
	Settings []string
	Obeyed   bool     // what other programs obey is judged
	Granted  []string // of that
	Held     []string // the directories at whose top it is
	Projects map[string]bool
	Path     []string // of the person
	Tools    []toolState
	Taken    takenBefore
	Began    time.Time
	Offline  bool
	Unmade   []string // what rules deny to be made

	// By which it is known that what lies there now is what lay there then.
	Boot string
	Tops map[string]FileID // of Dirs
}

const (
	unsweptMark  = ".unswept"
	unfinished   = ".new"
	notesMark    = ".notes"
	maxSettings  = 1 << 20
	maxNotesText = 1 << 16
)

// WriteDown writes down what there is before a program starts. It gives nil if
// the program can write nothing, or if nothing is held.
func (c *Covering) WriteDown() (*Unswept, error) {
	if c.shield == nil || c.shield.Holds == nil || c.shield.Holds.Dir == "" || !slices.ContainsFunc(c.dirs, writes) {
		return nil, nil
	}
	dir := c.shield.Holds.Dir + unsweptMark
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a directory for what was there before: %w", err)
	}
	file, err := os.CreateTemp(dir, "*"+unfinished)
	if err != nil {
		return nil, fmt.Errorf("writing down what was there before: %w", err)
	}
	err = flock(file, unix.LOCK_EX)
	if err == nil {
		was := before{
			Dirs: c.dirs, Gits: c.gits, Covers: c.Covers, WriteGit: c.shield.WriteGit, Home: c.shield.Git.Home, Settings: c.shield.Git.Settings,
			Obeyed: c.shield.Obeyed != nil, Held: c.tops, Projects: c.projects, Offline: c.offline, Unmade: c.rules, Began: c.began, Boot: boot(), Tops: identities(c.dirs),
		}
		if was.Obeyed {
			was.Path, was.Tools, was.Taken = c.shield.Path, c.tools, c.taken
			was.Granted = c.shield.Obeyed.Exceptions()
		}
		err = gob.NewEncoder(file).Encode(was)
	}
	if err == nil {
		err = os.Rename(file.Name(), strings.TrimSuffix(file.Name(), unfinished))
	}
	if err != nil {
		return nil, fmt.Errorf("writing down what was there before: %w", errors.Join(err, os.Remove(file.Name()), file.Close()))
	}
	return &Unswept{file: file}, nil
}

// File is the lock, to be inherited by the first process of the program.
func (u *Unswept) File() *os.File { return u.file }

// Done is called when all was judged.
func (u *Unswept) Done() {
	if u != nil {
		_ = os.Remove(strings.TrimSuffix(u.file.Name(), unfinished)) // or it is judged once more
		_ = u.file.Close()
	}
}

// Judge looks at what programs left behind whose Toolcrib was killed, and gives
// what there is to say.
func (h *Holds) Judge() (notes []string) {
	if h == nil || h.Dir == "" {
		return nil
	}
	entries, err := os.ReadDir(h.Dir + unsweptMark)
	if err != nil {
		return nil // there is none
	}
	for _, e := range entries {
		path := filepath.Join(h.Dir+unsweptMark, e.Name())
		if filepath.Ext(path) == unfinished {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Hour {
				_ = os.Remove(path) // its program never started
			}
			continue
		}
		notes = append(notes, judge(path)...)
	}
	return notes
}

func judge(path string) []string {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil // somebody else did it
	}
	defer func() { _ = file.Close() }() // which ends the lock
	if flock(file, unix.LOCK_EX|unix.LOCK_NB) != nil || !isAt(file, path) {
		return nil // its program runs
	}
	defer func() { _ = os.Remove(path) }()
	var was before
	err = gob.NewDecoder(file).Decode(&was)
	info, failed := file.Stat()
	if err != nil || failed != nil || !was.holds() || time.Since(info.ModTime()) > maxUnswept {
		return []string{"what a program left behind whose Toolcrib was killed could not be judged: look for new repositories before you use git"}
	}
	shield, err := NewShield("", nil, nil)
	if err != nil {
		return []string{err.Error()}
	}
	if was.Obeyed {
		if shield.Obeyed, err = sensitive.NewObeyedSet(was.Granted...); err != nil {
			return []string{err.Error()}
		}
	}
	shield.WriteGit, shield.Path, shield.records = was.WriteGit, was.Path, strings.TrimSuffix(filepath.Dir(path), unsweptMark)
	shield.Git = gitconfig.Source{Read: func(path string) ([]byte, error) { return readRegular(path, maxSettings) }, Home: was.Home, Settings: was.Settings}
	c := &Covering{Covers: was.Covers, shield: shield, dirs: was.Dirs, gits: was.Gits, tops: was.Held, projects: was.Projects, offline: was.Offline}
	c.tools, c.taken, c.began, c.rules = was.Tools, was.Taken, was.Began, was.Unmade
	if c.unmade, err = pathglob.NewSet(was.Unmade); err != nil {
		return []string{err.Error()}
	}
	return c.Sweep()
}

// maxUnswept is how long what was written down counts. After that more was made by
// the person than by a program.
const maxUnswept = 12 * time.Hour

// holds: the granted directories are those of then. Otherwise a repository that
// was there before cannot be told from one that a program made, and a person's
// own must not be set aside: files have other numbers after they were put back
// from a copy, and on some file systems after every start of the machine.
func (b before) holds() bool {
	if b.Boot == "" || b.Boot != boot() {
		return false
	}
	for _, d := range b.Dirs {
		if id, known := b.Tops[d.Path]; !known || !IsAt(d.Path, id) {
			return false
		}
	}
	return true
}

// boot tells one start of the machine from others; empty if nobody knows.
func boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

func identities(dirs []files.Dir) map[string]FileID {
	out := map[string]FileID{}
	for _, d := range dirs {
		if facts, err := factsOf(d.Path); err == nil {
			out[d.Path] = facts.id
		}
	}
	return out
}

// readRegular reads a file, and takes what is no ordinary one for none.
func readRegular(path string, most int64) ([]byte, error) {
	text, err := plainfile.Read(path, most)
	if errors.Is(err, plainfile.ErrOdd) {
		return nil, fs.ErrNotExist
	}
	return text, err
}

// Leave keeps notes for the next who starts a program. If that fails nobody can
// be told.
func (h *Holds) Leave(notes []string) {
	old, _ := readRegular(h.Dir+notesMark, maxNotesText)
	_ = durable.Replace(h.Dir+notesMark, []byte(string(old)+strings.Join(notes, "\x00")+"\x00"), 0o600)
}

// Left gives the notes that were left.
func (h *Holds) Left() []string {
	if h == nil || h.Dir == "" {
		return nil
	}
	text, err := readRegular(h.Dir+notesMark, maxNotesText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_ = os.Remove(h.Dir + notesMark)
	return slices.DeleteFunc(strings.Split(string(text), "\x00"), func(n string) bool { return n == "" })
}
