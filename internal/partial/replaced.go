package partial

import (
	"io/fs"
	"strings"
)

// Replaced counts how many of the last elements of a path come in the place of something
// else, or of nothing: those from a directory on that the set makes. It is asked about the
// paths of a set in their order.
type Replaced struct{ made string }

// Count gives that for the next path.
func (r *Replaced) Count(path string, before, after fs.FileInfo) int {
	if r.made != "" && strings.HasPrefix(path, r.made) {
		return strings.Count(path[len(r.made):], "/") + 2
	}
	if r.made = ""; after != nil && after.IsDir() && (before == nil || !before.IsDir()) {
		r.made = path + "/"
	}
	return 0
}
