package clienthook

import (
	"errors"
	"fmt"
	"strings"
)

// maxFiles bounds the files of one patch: each is judged by itself.
const maxFiles = 64

// patched reads which files a patch of Codex changes. The whole text is gone
// through, whatever stands around the patch: a line too many is asked about, a line
// too few would pass unseen.
func (r *reader) patched(text string) ([]Deed, error) {
	var out []Deed
	add := func(d Deed, err error) error {
		if len(out) == maxFiles {
			err = fmt.Errorf("it changes more than %d files", maxFiles)
		}
		out = append(out, d)
		return err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		kind, path, ok := strings.Cut(line, ": ")
		if !ok || !strings.HasPrefix(kind, "*** ") {
			continue
		}
		path = strings.TrimSpace(path)
		var err error
		switch kind {
		case "*** Add File":
			err = add(r.file("write_file", changes, path))
		case "*** Update File":
			err = add(r.file("edit_file", changes, path))
		case "*** Delete File":
			err = add(r.file("delete_file", removes, path))
		case "*** Move to":
			if err = add(r.file("write_file", changes, path)); err == nil && len(out) > 1 {
				was := out[len(out)-2]
				err = add(r.file("delete_file", removes, was.Path))
			}
		case "*** Environment ID":
			err = errors.New("it is for another machine")
		}
		if err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no file is named in the patch")
	}
	return out, nil
}
