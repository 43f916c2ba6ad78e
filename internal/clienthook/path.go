package clienthook

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// join puts a path of a client below a directory, if it is relative. Nothing is
// tidied: .. after a link leads elsewhere than the text says.
func join(dir, path string) string {
	switch {
	case path == "":
		return dir
	case dir == "" || filepath.IsAbs(path):
		return path
	}
	return dir + string(filepath.Separator) + path
}

// place is where a path of a client leads, absolute. Empty: where it works.
func (r *reader) place(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("the path has a zero byte in it")
	}
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`) {
		if r.near.Home == "" {
			return "", fmt.Errorf("%q is below the home directory, and there is none", path)
		}
		path = r.near.Home + path[1:]
	} else if strings.HasPrefix(path, "~") && !filepath.IsAbs(path) {
		// ~name is the home of another, or a file; the client alone knows.
		return "", fmt.Errorf("%q may mean the home directory of somebody else; write the whole path", path)
	}
	full := join(r.dir, path)
	if !strings.Contains(full, "..") {
		return filepath.Clean(full), nil
	}
	// Some clients tidy a path as a text, others leave that to the system.
	at := filepath.VolumeName(full) + string(filepath.Separator)
	for _, elem := range strings.FieldsFunc(full[len(filepath.VolumeName(full)):], func(c rune) bool { return c == '/' || c == filepath.Separator }) {
		if elem == ".." && r.near.Link != nil && r.near.Link(at) {
			return "", fmt.Errorf("%q leads through the link %s and back, which programs read in two ways; leave the .. out", path, at)
		}
		at = filepath.Join(at, elem)
	}
	return at, nil
}
