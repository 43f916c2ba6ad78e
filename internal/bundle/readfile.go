package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

func has(name string) func(*reader) bool { return func(r *reader) bool { return r.isFile(name) } }

// isFile: a regular file, and no link on the way to it.
func (r *reader) isFile(name string) bool { return r.kind(name, fs.FileMode.IsRegular) }
func (r *reader) isDir(name string) bool  { return r.kind(name, fs.FileMode.IsDir) }

// kind looks at each step of a path in the list of its folder, which tells of a link what
// it is, and not where it leads.
func (r *reader) kind(name string, want func(fs.FileMode) bool) bool {
	if name == "." {
		return want(fs.ModeDir)
	}
	dir, last := path.Split(name)
	dir = path.Clean(dir)
	if !r.isDir(dir) {
		return false
	}
	entries, err := fs.ReadDir(r.files, dir)
	if err != nil {
		return false
	}
	i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == last })
	return i >= 0 && want(entries[i].Type())
}

// text reads a file of the package.
func (r *reader) text(name string, most int) (data []byte, err error) {
	if !r.isFile(name) {
		return nil, fmt.Errorf("there is no file %s, or it is a link", name)
	}
	f, err := r.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(data) > most {
		err = fmt.Errorf("%s is larger than %d bytes", name, most)
	}
	return data, err
}

// json reads a file as JSON. What has keys twice is refused: two readers could
// understand it differently.
func (r *reader) json(name string, into any) error {
	data, err := r.text(name, maxManifest)
	if err != nil {
		return err
	}
	data = []byte(strings.TrimPrefix(string(data), "\uFEFF"))
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s is no such JSON: %w", name, err)
	}
	if key := twice(json.NewDecoder(bytes.NewReader(data))); key != "" {
		return fmt.Errorf("%s has the key %q twice", name, shown(key, 80))
	}
	return nil
}

// twice is a key that an object of a valid text has twice. Empty: there is none.
func twice(d *json.Decoder) string {
	type level struct {
		object bool
		key    bool // a key comes next
		seen   map[string]bool
	}
	var levels []level
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		var top *level
		if len(levels) > 0 {
			top = &levels[len(levels)-1]
		}
		if text, ok := token.(string); ok && top != nil && top.object && top.key {
			if top.seen[text] {
				return text
			}
			top.seen[text], top.key = true, false
			continue
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			levels = levels[:len(levels)-1]
			continue
		}
		if top != nil {
			top.key = true // behind this value
		}
		if token == json.Delim('{') || token == json.Delim('[') {
			levels = append(levels, level{token == json.Delim('{'), true, map[string]bool{}})
		}
	}
}

// yaml reads a file as YAML.
func (r *reader) yaml(name string, into any) error {
	data, err := r.text(name, maxManifest)
	if err != nil {
		return err
	}
	if r.needs.YAML == nil {
		return errors.New("nothing reads YAML here")
	}
	if err := r.needs.YAML(data, into); err != nil {
		return fmt.Errorf("%s is no such YAML: %w", name, err)
	}
	return nil
}
