package reach

import (
	"path/filepath"
	"slices"

	"github.com/toolcrib/toolcrib/internal/linked"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/registries"
)

// Registries puts the hosts of registries in the place of words in grant.hosts. What
// lies where tools can write is not read: it would let them choose where they go.
func (n Start) Registries(hosts, write []string) registries.Found {
	var dirs []string
	for _, text := range write {
		if dir, err := n.Directory(text); err == nil {
			dirs = append(dirs, dir)
		}
	}
	read := func(path string) ([]byte, error) {
		led, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		inside := func(dir string) bool { return linked.Within(led, realDir(dir)) || linked.Within(path, dir) }
		if slices.ContainsFunc(dirs, inside) {
			return nil, registries.ErrWritable
		}
		return plainfile.Settings(led)
	}
	return registries.Expand(hosts, registries.Machine{Home: n.Home, Getenv: n.Variable(), Read: read})
}
