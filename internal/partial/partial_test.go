package partial

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func set(rows ...string) (s Set) {
	for _, row := range rows {
		word, rest, _ := strings.Cut(row, " ")
		path, from, _ := strings.Cut(rest, " from ")
		path, dir := strings.CutSuffix(path, "/")
		kind := Other
		if dir {
			kind = Directory
		}
		c := Change{Path: path, From: from, Was: kind, Is: kind}
		switch word {
		case "new":
			c.Was = Nothing
		case "gone":
			c.Is = Nothing
		case "dir": // a file before
			c.Was, c.Is = Other, Directory
		case "file": // a directory before
			c.Was, c.Is = Directory, Other
		}
		s = append(s, c)
	}
	return s
}

func some(paths ...string) map[string]bool {
	out := map[string]bool{}
	for _, p := range paths {
		out[p] = true
	}
	return out
}

func TestOnly(t *testing.T) {
	tree := set("changed /p/a", "new /p/n/", "new /p/n/m/", "new /p/n/m/1", "new /p/n/2", "gone /p/old/", "gone /p/old/x", "gone /p/old/y", "new /p/z from /p/old/x", "dir /p/t/", "new /p/t/in", "file /p/u", "gone /p/u/in")
	for name, c := range map[string]struct {
		named   string
		refused map[string]bool
		want    string // or the error
	}{
		"a file":                      {"/p/a", nil, "/p/a"},
		"with its directories":        {"/p/n/m/1", nil, "/p/n /p/n/m /p/n/m/1"},
		"a directory":                 {"/p/n", nil, "/p/n /p/n/2 /p/n/m /p/n/m/1"},
		"half of a directory":         {"/p/old/y", nil, "/p/old/y"},
		"a target":                    {"/p/z", nil, "/p/old/x /p/z"},
		"a source":                    {"/p/old/x", nil, "/p/old/x /p/z"},
		"a whole deleted directory":   {"/p/old", nil, "/p/old /p/old/x /p/old/y /p/z"},
		"a deleted one with a denied": {"/p/old /p/a", some("/p/old/y"), "/p/a /p/old/x /p/z"},
		"a target that is denied":     {"/p/old /p/a", some("/p/z"), "/p/a /p/old/y"},
		"what is denied":              {"/p/a", some("/p/a"), ""},
		"below what is denied":        {"/p/n/m/1 /p/a", some("/p/n"), "/p/a"},
		"in a new directory":          {"/p/t/in", nil, "error: /p/t/in can be taken only together with /p/t"},
		"with the new directory":      {"/p/t", nil, "/p/t /p/t/in"},
		"in place of a directory":     {"/p/u", nil, "/p/u /p/u/in"},
		"in it":                       {"/p/u/in", nil, "/p/u/in"},
		"nothing":                     {"/p/b", nil, "error: the command changed nothing at /p/b"},
		"a beginning of a name":       {"/p/ol", nil, "error: the command changed nothing at /p/ol"},
		"everything":                  {"/", nil, "/p/a /p/n /p/n/2 /p/n/m /p/n/m/1 /p/old /p/old/x /p/old/y /p/t /p/t/in /p/u /p/u/in /p/z"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := tree.Only(strings.Fields(c.named), c.refused)
			got := strings.Join(slices.Sorted(maps.Keys(in)), " ")
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWithout(t *testing.T) {
	tree := set("changed /p/a", "new /p/n/", "new /p/n/1", "gone /p/old/", "gone /p/old/x", "gone /p/old/sub/", "gone /p/old/sub/y", "new /p/z from /p/old/x")
	for refused, want := range map[string]string{
		"":             "/p/a /p/n /p/n/1 /p/old /p/old/sub /p/old/sub/y /p/old/x /p/z",
		"/p/n":         "/p/a /p/old /p/old/sub /p/old/sub/y /p/old/x /p/z",
		"/p/n/1":       "/p/a /p/n /p/old /p/old/sub /p/old/sub/y /p/old/x /p/z",
		"/p/old/sub/y": "/p/a /p/n /p/n/1 /p/old/x /p/z",
		"/p/z":         "/p/a /p/n /p/n/1 /p/old/sub /p/old/sub/y",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(tree.Without(some(refused)))), " "); got != want {
			t.Errorf("without %s: %s\nwant %s", refused, got, want)
		}
	}
}

// checkPart holds what is taken of a random set against what it must be.
func checkPart(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // the same for each run
	s := randomSet(r)
	pick := func() (list []string) {
		for _, c := range s {
			if r.IntN(5) == 0 {
				list = append(list, c.Path)
			}
		}
		return list
	}
	refused, named := some(pick()...), pick()
	in, err := s.Only(named, refused)
	if err != nil {
		return
	}
	at := s.byPath()
	for _, c := range s {
		if refused[c.Path] && in[c.Path] {
			t.Errorf("seed %d: %s was refused", seed, c.Path)
		}
		if c.From != "" && in[c.Path] != in[c.From] {
			t.Errorf("seed %d: half of a move: %s from %s", seed, c.Path, c.From)
		}
		for dir := filepath.Dir(c.Path); dir != "/"; dir = filepath.Dir(dir) {
			i, changed := at[dir]
			if !changed {
				continue
			}
			around := s[i]
			switch {
			case in[c.Path] && around.Was != Directory && around.Is == Directory && c.Is != Nothing && !in[dir]:
				t.Errorf("seed %d: %s without its directory", seed, c.Path)
			case !in[c.Path] && c.Was != Nothing && around.Was == Directory && around.Is != Directory && in[dir]:
				t.Errorf("seed %d: %s is deleted with %s in it", seed, dir, c.Path)
			}
		}
	}
	for path := range s.Without(refused) {
		if refused[path] {
			t.Errorf("seed %d: %s was refused", seed, path)
		}
	}
}

// randomSet is a change set as a command may leave it.
func randomSet(r *rand.Rand) (s Set) {
	var gone []string
	var grow func(dir string, depth int, was, is Kind)
	grow = func(dir string, depth int, was, is Kind) {
		for i := range r.IntN(4) {
			c := Change{Path: fmt.Sprintf("%s/%d", dir, i), Was: Kind(r.IntN(3)), Is: Kind(r.IntN(3))}
			if was != Directory {
				c.Was = Nothing
			}
			if is != Directory {
				c.Is = Nothing
			}
			if c.Was == Nothing && c.Is == Nothing {
				continue
			}
			if c.Was == Other && c.Is == Nothing {
				gone = append(gone, c.Path)
			}
			if s = append(s, c); depth > 0 && (c.Was == Directory || c.Is == Directory) {
				grow(c.Path, depth-1, c.Was, c.Is)
			}
		}
	}
	grow("/p", 3, Directory, Directory)
	for i := range s {
		if s[i].Was == Nothing && s[i].Is == Other && len(gone) > 0 && r.IntN(2) == 0 {
			s[i].From, gone = gone[0], gone[1:]
		}
	}
	return s
}

func TestRandomParts(t *testing.T) {
	for seed := range uint64(2000) {
		checkPart(t, seed)
	}
}

func FuzzPart(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(checkPart)
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		size, length int64
		parts        int
		why          bool
	}{{0, 4, 1, false}, {4, 4, 1, false}, {5, 4, 2, false}, {4 << 20, 4 << 20, 1, false}, {4<<20 + 1, 4 << 20, 2, false}, {60 << 20, 4 << 20, 16, false}, {100 << 20, 4 << 20, 16, true}} {
		parts, why := Parts(c.size, c.length)
		if len(parts) != c.parts || (why != "") != c.why {
			t.Errorf("%+v: %d parts, %q", c, len(parts), why)
		}
		end := int64(0)
		for i, p := range parts {
			if p.From > end || i > 0 && p.From == end && c.length > 2 || p.Length > c.length {
				t.Errorf("%+v: a gap at %d", c, end)
			}
			end = p.From + p.Length
		}
		if !c.why && end != c.size {
			t.Errorf("%+v: ends at %d", c, end)
		}
	}
}
