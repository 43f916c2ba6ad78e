package policy

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/named"
)

// python3 finds what Python would import from the directory that it is started in.
func (n *takenNames) python3(name string, c *newContent) *obeyedPlace {
	if !n.python {
		return nil
	}
	elems := strings.Split(strings.TrimPrefix(name, "/"), "/")
	for i, elem := range elems {
		top, rest := "/"+strings.Join(elems[:i], "/"), elems[i+1:]
		at := path.Join(top, elem)
		if by := n.taken.Entries[elem]; by != "" && n.isTop(top) && !exists(at) {
			return &obeyedPlace{full: at, by: startedThere(by, "run what lies there")}
		}
		if len(rest) > 1 {
			continue
		}
		by, file := n.taken.Module(elem)
		module := false
		switch {
		case by == "":
		case file:
			module = len(rest) == 0 && !exists(at)
		case len(rest) == 1:
			module = named.IsModuleStart(rest[0]) && !isPackage(at)
		default: // what it leads to may be a package
			module = c.isLink() && !exists(at)
		}
		if module && n.isTop(top) {
			return &obeyedPlace{full: name, by: startedThere(by, "import it")}
		}
	}
	return nil
}

// isPackage: Python takes the directory for one.
func isPackage(dir string) bool {
	entries, err := os.ReadDir(local(dir))
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return named.IsModuleStart(e.Name()) })
}
