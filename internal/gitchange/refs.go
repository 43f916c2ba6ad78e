package gitchange

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// value is what a ref holds: an object, or the name of another ref.
type value struct {
	id     gitobject.ID
	symref string
}

func (v value) exists() bool { return v != value{} }

// The bounds on what is read.
const (
	maxRef        = 4096
	maxPackedRefs = 64 << 20
)

// parseRef reads the file of a ref.
func parseRef(data []byte) (value, bool) {
	text, ended := strings.CutSuffix(string(data), "\n")
	if to, symbolic := strings.CutPrefix(text, "ref: "); symbolic {
		return value{symref: to}, ended && strings.HasPrefix(to, "refs/") && properRef(to)
	}
	id, ok := gitobject.ParseID(text)
	return value{id: id}, ok && ended
}

// readRef reads the file of a ref; no value: there is none.
func readRef(dir gitobject.Dir, name string) (value, error) {
	data, err := gitobject.ReadAll(dir, name, maxRef)
	if errors.Is(err, fs.ErrNotExist) {
		return value{}, nil
	}
	if err != nil {
		return value{}, err
	}
	v, ok := parseRef(data)
	if !ok {
		return value{}, gitobject.ErrOdd
	}
	return v, nil
}

// packedRef is a line of the file in which refs lie that have no file.
type packedRef struct {
	id     gitobject.ID
	peeled gitobject.ID // what a tag stands for, on a line that begins with ^
}

// parsePackedRefs reads that file. Git finds names in it by halves if it says that
// they are sorted, so that they must be.
func parsePackedRefs(data []byte) (map[string]packedRef, error) {
	refs := map[string]packedRef{}
	last := ""
	for first := true; len(data) > 0; first = false {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		data = rest
		text := string(line)
		switch {
		case !ended:
			return nil, gitobject.ErrOdd
		case strings.HasPrefix(text, "#"):
			if !first {
				return nil, gitobject.ErrOdd
			}
		case strings.HasPrefix(text, "^"):
			id, ok := gitobject.ParseID(text[1:])
			r := refs[last]
			if !ok || last == "" || r.peeled != (gitobject.ID{}) {
				return nil, gitobject.ErrOdd
			}
			r.peeled = id
			refs[last] = r
		default:
			word, name, cut := strings.Cut(text, " ")
			id, ok := gitobject.ParseID(word)
			if !cut || !ok || !strings.HasPrefix(name, "refs/") || !properRef(name) || name <= last {
				return nil, gitobject.ErrOdd
			}
			refs[name], last = packedRef{id: id}, name
		}
	}
	return refs, nil
}

func readPackedRefs(dir gitobject.Dir) (map[string]packedRef, error) {
	data, err := gitobject.ReadAll(dir, "packed-refs", maxPackedRefs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parsePackedRefs(data)
}

// refs are those of a Git directory at one moment.
type refs struct {
	dir    gitobject.Dir
	packed map[string]packedRef
}

func openRefs(dir gitobject.Dir) (*refs, error) {
	packed, err := readPackedRefs(dir)
	return &refs{dir, packed}, err
}

// get gives the value of a ref: its file, or else its line.
func (r *refs) get(name string) (value, error) {
	v, err := readRef(r.dir, name)
	if err != nil || v.exists() {
		return v, err
	}
	return value{id: r.packed[name].id}, nil
}

// maxSymrefs is how many refs may lead to each other.
const maxSymrefs = 5

// resolve gives the object that a ref stands for in the end; zero: none yet.
func (r *refs) resolve(name string) (gitobject.ID, error) {
	for range maxSymrefs {
		v, err := r.get(name)
		if err != nil || v.symref == "" {
			return v.id, err
		}
		name = v.symref
	}
	return gitobject.ID{}, gitobject.ErrOdd
}

// maxTips bounds how many refs are taken for what was known before. What only further
// ones have is judged again.
const maxTips = 16 << 10

// tips gives what branches stood for, those of others too.
func (r *refs) tips() ([]gitobject.ID, error) {
	seen := map[gitobject.ID]bool{}
	add := func(id gitobject.ID) {
		if id != (gitobject.ID{}) && len(seen) < maxTips {
			seen[id] = true
		}
	}
	id, err := r.resolve("HEAD")
	if err != nil {
		return nil, err
	}
	add(id)
	names := []string{stash}
	for _, kind := range []string{"refs/heads", "refs/remotes"} {
		if err := r.files(kind, &names, 0); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if v, err := readRef(r.dir, name); err == nil { // one that cannot be read stands for nothing
			add(v.id)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.packed)) {
		if strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/remotes/") {
			add(r.packed[name].id) // also if a file counts more: it was known
		}
	}
	out := make([]gitobject.ID, 0, len(seen))
	for id := range seen {
		out = append(out, id)
	}
	return out, nil
}

// files lists what lies below a directory of refs.
func (r *refs) files(dir string, out *[]string, depth int) error {
	names, err := r.dir.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		*out = append(*out, dir) // a file
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		if depth > maxRefDepth {
			return gitobject.ErrTooMuch
		}
		if len(*out) > maxTips {
			return nil
		}
		if err := r.files(dir+"/"+name, out, depth+1); err != nil {
			return err
		}
	}
	return nil
}

const maxRefDepth = 32
