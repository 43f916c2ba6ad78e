package shellguard

import (
	"path"
	"slices"
	"strings"
)

// trail is where a line goes by cd, pushd, env -C and their like. Where one of
// them leads to [unknownDir], it is one of these places, unless nobody can say.
type trail struct {
	ways []string // directories, and patterns of directories, absolute
	lost bool     // it may be anywhere
}

// maxWays bounds the places that are followed.
const maxWays = 64

func (t *trail) getLost() {
	if t != nil {
		t.lost = true
	}
}

// follow notes where a move from d led to.
func (t *trail) follow(base, d, to, at string) {
	switch {
	case t == nil || t.lost:
	case len(to) > 1 && to[0] == '~' && strings.IndexByte("-0123456789", to[1]) >= 0:
		t.lost = true
	case at != unknownDir:
		t.add(at)
	case to == "" || to == "-": // where it was before
	case strings.ContainsAny(to, "$…`"):
		t.lost = true
	case path.IsAbs(to):
		t.add(path.Clean(to))
	case d == unknownDir:
		for _, way := range append(slices.Clone(t.ways), base) {
			t.add(path.Join(way, to))
		}
	default:
		t.add(path.Join(d, to))
	}
}

func (t *trail) add(way string) {
	switch {
	case slices.Contains(t.ways, way):
	case len(t.ways) >= maxWays:
		t.lost = true
	default:
		t.ways = append(t.ways, way)
	}
}
