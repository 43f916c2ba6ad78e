package gitchange

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// made is the tree that the entries of an index make of a directory.
type made struct {
	id    gitobject.ID
	count int // of entries below it
}

// makeTrees gives the trees that the entries of an index would make when they are
// committed, by their directories; the top is "".
func makeTrees(entries []gitindex.Entry) map[string]made {
	out := map[string]made{}
	var build func(dir string, list []gitindex.Entry)
	build = func(dir string, list []gitindex.Entry) {
		var tree []gitobject.Entry
		skip := 0
		if dir != "" {
			skip = len(dir) + 1
		}
		for i := 0; i < len(list); {
			name, _, below := strings.Cut(list[i].Name[skip:], "/")
			if !below {
				e := list[i]
				if !e.Later && len(e.Blob) == len(gitobject.ID{}) {
					tree = append(tree, gitobject.Entry{Mode: gitobject.Mode(e.Mode), Name: name, ID: gitobject.ID([]byte(e.Blob))})
				}
				i++
				continue
			}
			sub := path.Join(dir, name)
			end := i
			for end < len(list) && strings.HasPrefix(list[end].Name, sub+"/") {
				end++
			}
			build(sub, list[i:end])
			tree = append(tree, gitobject.Entry{Mode: gitobject.ModeDir, Name: name, ID: out[sub].id})
			i = end
		}
		out[dir] = made{gitobject.Hash(gitobject.Object{Kind: gitobject.Tree, Data: gitobject.FormatTree(tree)}), len(list)}
	}
	build("", entries)
	return out
}

// sameTrees checks what an index remembers of its trees: git commits them without
// looking at the entries again. So each must be what these make.
func sameTrees(remembered []byte, entries []gitindex.Entry) bool {
	if remembered == nil {
		return true
	}
	r := treeReader{rest: remembered, made: makeTrees(entries), unmerged: map[string]bool{}}
	for _, e := range entries {
		if e.Stage != 0 {
			for dir := path.Dir(e.Name); dir != "."; dir = path.Dir(dir) {
				r.unmerged[dir] = true
			}
			r.unmerged[""] = true
		}
	}
	return r.node("", true, 0) && len(r.rest) == 0
}

type treeReader struct {
	rest     []byte
	made     map[string]made
	unmerged map[string]bool // directories in which a merge is not done: they make no tree
}

// node reads a directory and those in it: its name, how many entries it has (-1: what
// is remembered does not hold any more), how many directories follow, and its tree.
func (r *treeReader) node(dir string, top bool, depth int) bool {
	name, rest, ok := bytes.Cut(r.rest, []byte{0})
	head, rest, cut := bytes.Cut(rest, []byte("\n"))
	number, more, both := strings.Cut(string(head), " ")
	count, err := strconv.Atoi(number)
	subs, errSubs := strconv.Atoi(more)
	if !ok || !cut || !both || err != nil || errSubs != nil || count < -1 || subs < 0 || top != (len(name) == 0) || depth > maxRefDepth*8 || bytes.IndexByte(name, '/') >= 0 {
		return false
	}
	r.rest = rest
	if !top {
		dir = path.Join(dir, string(name))
	}
	if count >= 0 {
		if len(r.rest) < len(gitobject.ID{}) {
			return false
		}
		id := gitobject.ID(r.rest[:len(gitobject.ID{})])
		r.rest = r.rest[len(id):]
		if want, there := r.made[dir]; !there || want.id != id || want.count != count || r.unmerged[dir] {
			return false
		}
	}
	for range subs {
		if !r.node(dir, false, depth+1) {
			return false
		}
	}
	return true
}
