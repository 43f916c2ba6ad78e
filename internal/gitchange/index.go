package gitchange

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// maxIndex bounds the bytes of an index.
const maxIndex = 128 << 20

// staged is the name and the stage of an entry.
type staged struct {
	name  string
	stage int
}

// index judges what would be committed next: the entries that the command changed and
// that are not in the commit of HEAD.
func (j *judge) index() {
	at := -1
	for i := range j.changes {
		if placeOf(j.changes[i].Name) == index && j.changes[i].Exists {
			at = i
		}
	}
	if at < 0 || j.result.Findings[at].Answer != Ordinary {
		return
	}
	if err := j.readIndex(at); err != nil {
		j.fault(at, fmt.Errorf("the index: %w", err))
	}
}

func (j *judge) readIndex(at int) error {
	data, err := gitobject.ReadAll(j.repo.After, "index", maxIndex)
	if err != nil {
		return err
	}
	entries, index, err := gitindex.Entries(data, gitindex.SHA1)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if len(e.Name) > maxRef || !gitindex.Proper(e.Name) {
			j.find(at, Deny, Forged, "the index has the name "+plain(e.Name)+", which git would not write into a work tree")
			return nil
		}
	}
	if !sameTrees(index.Trees, entries) {
		j.find(at, Deny, Forged, "the index remembers trees that its entries do not make, which the next commit would have")
		return nil
	}
	before, err := oldEntries(j.repo.Before)
	if err != nil {
		return err
	}
	if before != nil && slices.EqualFunc(before, entries, sameEntry) {
		j.result.Findings[at] = Finding{Answer: Nothing}
		return nil
	}
	was, unseen := make(map[staged]gitobject.Entry, len(before)), map[string]bool{}
	for _, e := range before {
		was[staged{e.Name, e.Stage}] = entryOf(e)
		unseen[e.Name] = e.Unseen
	}
	for _, e := range entries {
		if e.Unseen && !unseen[e.Name] {
			j.find(at, Ask, Obeyed, "git would not look at "+plain(e.Name)+" any more, whatever is in it")
		}
	}
	if index.Unread != nil { // git on a layer writes none
		j.find(at, Ask, Obeyed, "the index would tell git which files have not changed and which are new, so that it does not look (core.untrackedCache, core.fsmonitor)")
	}
	if err := j.looked(at, before, entries); err != nil {
		return err
	}
	tree, err := j.headTree()
	if err != nil {
		return err
	}
	return j.stagedFiles(at, entries, was, &headFiles{store: j.store, tree: tree})
}

// oldEntries reads the index as it was. One that is not understood has no entry that
// counts as known.
func oldEntries(dir gitobject.Dir) ([]gitindex.Entry, error) {
	data, err := gitobject.ReadAll(dir, "index", maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, _, err := gitindex.Entries(data, gitindex.SHA1)
	if err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	return entries, nil
}

func entryOf(e gitindex.Entry) gitobject.Entry {
	return gitobject.Entry{Mode: gitobject.Mode(e.Mode), ID: gitobject.ID([]byte(e.Blob))}
}

// sameEntry tells whether two entries are the same, whenever git looked at their files.
func sameEntry(a, b gitindex.Entry) bool {
	a.Seen = b.Seen
	return a == b
}

// headTree is the tree of the commit that HEAD stands for now; zero: there is none.
func (j *judge) headTree() (gitobject.ID, error) {
	id, err := j.after.resolve("HEAD")
	if err != nil || id == (gitobject.ID{}) {
		return gitobject.ID{}, err
	}
	c, err := j.history.commit(id)
	return c.Tree, err
}

// stagedFiles adds the entries that changed and differ from HEAD.
func (j *judge) stagedFiles(at int, entries []gitindex.Entry, was map[staged]gitobject.Entry, head *headFiles) error {
	count := 0
	add := func(name string, now gitobject.Entry) error {
		old, err := head.at(name)
		if err != nil || old == now {
			return err
		}
		count++
		return j.add(at, "the index", []gitobject.Change{{Path: name, Old: old, New: now}})
	}
	still := make(map[string]bool, len(entries))
	for _, e := range entries {
		still[e.Name] = true
		now := entryOf(e)
		if was[staged{e.Name, e.Stage}] == now || e.Later {
			continue
		}
		if err := add(e.Name, now); err != nil {
			return err
		}
	}
	for s := range was {
		if !still[s.name] {
			if err := add(s.name, gitobject.Entry{}); err != nil {
				return err
			}
		}
	}
	if count > 0 {
		text := counted(count, "file") + " in the index"
		j.find(at, Ordinary, "", text)
		j.show("%s (what the next commit has, and no commit yet)", text)
	}
	return nil
}

// headFiles finds files in the tree of HEAD, and reads each directory once.
type headFiles struct {
	store *gitobject.Store
	tree  gitobject.ID
	dirs  map[string]map[string]gitobject.Entry
}

func (h *headFiles) at(name string) (gitobject.Entry, error) {
	dir, base := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		dir, base = name[:i], name[i+1:]
	}
	entries, err := h.dir(dir)
	e := entries[base]
	e.Name = ""
	if e.Mode == gitobject.ModeDir {
		e = gitobject.Entry{}
	}
	return e, err
}

func (h *headFiles) dir(name string) (map[string]gitobject.Entry, error) {
	if entries, known := h.dirs[name]; known {
		return entries, nil
	}
	id := h.tree
	if name != "" {
		up, base := "", name
		if i := strings.LastIndexByte(name, '/'); i >= 0 {
			up, base = name[:i], name[i+1:]
		}
		around, err := h.dir(up)
		if err != nil {
			return nil, err
		}
		if id = around[base].ID; around[base].Mode != gitobject.ModeDir {
			id = gitobject.ID{}
		}
	}
	list, err := h.store.Tree(id)
	if err != nil {
		return nil, err
	}
	entries := make(map[string]gitobject.Entry, len(list))
	for _, e := range list {
		entries[e.Name] = e
	}
	if h.dirs == nil {
		h.dirs = map[string]map[string]gitobject.Entry{}
	}
	h.dirs[name] = entries
	return entries, nil
}
