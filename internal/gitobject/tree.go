package gitobject

import (
	"bytes"
	"strconv"
	"strings"
)

// Mode is the kind of an entry of a tree, as git writes it.
type Mode uint32

// The modes that git knows.
const (
	ModeDir     Mode = 0o040000
	ModeFile    Mode = 0o100644
	ModeShared  Mode = 0o100664 // of old repositories
	ModeRuns    Mode = 0o100755
	ModeSymlink Mode = 0o120000
	ModeModule  Mode = 0o160000 // a commit of another repository
)

func (m Mode) known() bool {
	switch m {
	case ModeDir, ModeFile, ModeShared, ModeRuns, ModeSymlink, ModeModule:
		return true
	}
	return false
}

// Entry is a name in a tree.
type Entry struct {
	Mode Mode
	Name string
	ID   ID
}

// ParseTree reads a tree. Its names must stand in git's order, each once: otherwise
// git would not find all of them.
func ParseTree(data []byte) ([]Entry, error) {
	var out []Entry
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		word, name, cut := strings.Cut(string(head), " ")
		mode, err := strconv.ParseUint(word, 8, 32)
		if !ok || !cut || err != nil || !Mode(mode).known() || name == "" || strings.Contains(name, "/") || int64(len(rest)) < idSize {
			return nil, ErrOdd
		}
		e := Entry{Mode: Mode(mode), Name: name, ID: ID(rest[:idSize])}
		if n := len(out); n > 0 && (sortName(out[n-1]) >= sortName(e) || out[n-1].Name == e.Name) {
			return nil, ErrOdd
		}
		out = append(out, e)
		data = rest[idSize:]
	}
	seen := make(map[string]bool, len(out))
	for _, e := range out { // a file and a directory of one name need not stand side by side
		if seen[e.Name] {
			return nil, ErrOdd
		}
		seen[e.Name] = true
	}
	return out, nil
}

// sortName is what git sorts entries by.
func sortName(e Entry) string {
	if e.Mode == ModeDir {
		return e.Name + "/"
	}
	return e.Name
}

// FormatTree writes a tree whose entries are sorted.
func FormatTree(entries []Entry) []byte {
	var out bytes.Buffer
	for _, e := range entries {
		out.WriteString(strconv.FormatUint(uint64(e.Mode), 8) + " " + e.Name + "\x00")
		out.Write(e.ID[:])
	}
	return out.Bytes()
}

// maxTree bounds the bytes of one tree.
const maxTree = 16 << 20

// Tree reads a tree. The zero ID is the tree without entries.
func (s *Store) Tree(id ID) ([]Entry, error) {
	if id == (ID{}) {
		return nil, nil
	}
	data, err := s.ReadKind(id, Tree, maxTree)
	if err != nil {
		return nil, err
	}
	entries, err := ParseTree(data)
	return entries, s.named(id, err)
}
