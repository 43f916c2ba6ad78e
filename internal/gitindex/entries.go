package gitindex

import "encoding/binary"

// Entry is a line of an index: what will be committed under a name.
type Entry struct {
	Name  string
	Mode  uint32
	Blob  string // the hash of what git has there, in bytes
	Stage int    // 0, or of a merge that is not done: 1 what both began with, 2 ours, 3 theirs
	Later bool   // only its name was added, and its content will be later
	// Unseen: git does not look whether the file has changed (assume-unchanged,
	// skip-worktree).
	Unseen bool
	// Seen is what git saw of the file when it last looked: one that is still like this it
	// takes for unchanged, and does not read.
	Seen Seen
}

// Seen is what an index has of a file besides its content, as far as nobody can do without
// it: seconds, and the low bits of the rest.
type Seen struct{ Changed, Written, Inode, Size uint32 }

const (
	stageMask  = 0x3000
	stageShift = 12
	unseenFlag = 0x8000
	laterFlag  = 0x2000 // of the further flags
)

// Entries gives all lines of an index that is neither split nor sparse, in their
// order, and what it remembers of the trees that they make (see [Index.Trees]). Git
// wants the lines sorted, and so does this.
func Entries(data []byte, size int) ([]Entry, *Index, error) {
	var out []Entry
	sorted := true
	index, err := read(data, size, func(name string, stat []byte) {
		flags := binary.BigEndian.Uint16(stat[statSize+size:])
		e := Entry{Name: name, Mode: binary.BigEndian.Uint32(stat[modeAt:]), Blob: string(stat[statSize : statSize+size]), Stage: int(flags & stageMask >> stageShift)}
		if e.Unseen = flags&unseenFlag != 0; flags&extended != 0 {
			further := binary.BigEndian.Uint16(stat[statSize+size+2:])
			e.Later, e.Unseen = further&laterFlag != 0, e.Unseen || further&skipFlag != 0
		}
		e.Seen = Seen{binary.BigEndian.Uint32(stat), binary.BigEndian.Uint32(stat[8:]), binary.BigEndian.Uint32(stat[20:]), binary.BigEndian.Uint32(stat[36:])}
		if n := len(out); n > 0 && (out[n-1].Name > name || out[n-1].Name == name && (out[n-1].Stage >= e.Stage || out[n-1].Stage == 0)) {
			sorted = false
		}
		out = append(out, e)
	})
	if err == nil && (!sorted || index.Shared != "" || index.Sparse) {
		err = ErrOdd
	}
	if err != nil {
		return nil, nil, err
	}
	return out, index, nil
}
