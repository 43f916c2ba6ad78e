package toolcrib

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// touches lists everything a grant gives among a small world, so that two
// grants can be compared by what they allow and not by how they are written.
func touches(g Grant) []string {
	var out []string
	for _, path := range []string{"/", "/a", "/a/b", "/a/b/c", "/ab", "/x"} {
		for _, d := range g.Dirs {
			denied, err := pathglob.NewSet(g.Denied)
			fixed, ferr := pathglob.NewSet(g.Fixed)
			if _, in := (files.Dir{Path: path}).Meet(d); in && len(d.Path) <= len(path) && err == nil && ferr == nil && !denied.Has(pathglob.Elements(path)) {
				out = append(out, "read "+path)
				if d.Write && !fixed.Has(pathglob.Elements(path)) {
					out = append(out, "write "+path)
				}
			}
		}
	}
	for _, p := range []string{"/bin/ls", "/bin/sh"} {
		if allowed(g.Programs, p) {
			out = append(out, "program "+p)
		}
	}
	for _, s := range []string{"one", "two"} {
		if allowed(g.Secrets, s) {
			out = append(out, "secret "+s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func someGrant() *rapid.Generator[Grant] {
	return rapid.Custom(func(t *rapid.T) Grant {
		dir := rapid.Custom(func(t *rapid.T) files.Dir {
			return files.Dir{Path: rapid.SampledFrom([]string{"/", "/a", "/a/b", "/a/b/c", "/ab", "/x"}).Draw(t, "path"), Write: rapid.Bool().Draw(t, "write")}
		})
		words := func(from ...string) []string {
			return rapid.SliceOfN(rapid.SampledFrom(from), 0, 3).Draw(t, "words")
		}
		return Grant{
			Dirs:     rapid.SliceOfN(dir, 0, 3).Draw(t, "dirs"),
			Programs: words("*", "/bin/ls", "/bin/sh"),
			Secrets:  words("*", "one", "two"),
			Denied:   words("/a/b/**", "/**/c", "/x", "/A"),
			Fixed:    words("/a/**", "/**/b", "/ab"),
			Time:     time.Duration(rapid.IntRange(0, 3).Draw(t, "time")),
			Bounds:   Bounds(rapid.IntRange(0, 31).Draw(t, "bounds")),
		}
	})
}

func TestGrantMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, h, k := someGrant().Draw(t, "g"), someGrant().Draw(t, "h"), someGrant().Draw(t, "k")
		m := g.Meet(h)
		if diff := cmp.Diff(m, h.Meet(g)); diff != "" {
			t.Fatalf("not commutative:\n%s", diff)
		}
		if diff := cmp.Diff(m.Meet(k), g.Meet(h.Meet(k))); diff != "" {
			t.Fatalf("not associative:\n%s", diff)
		}
		have, one, two := touches(m), touches(g), touches(h)
		for _, x := range have {
			if !slices.Contains(one, x) || !slices.Contains(two, x) {
				t.Fatalf("wider than a part: %s is in %v of %+v and %+v", x, m, g, h)
			}
		}
		for _, x := range one { // and nothing is lost that both give
			if slices.Contains(two, x) && !slices.Contains(have, x) {
				t.Fatalf("both give %s, the meet %+v does not", x, m)
			}
		}
		if m.Time != 0 && ((g.Time != 0 && m.Time > g.Time) || (h.Time != 0 && m.Time > h.Time)) || m.Time == 0 && g.Time+h.Time != 0 {
			t.Fatalf("time %v of %v and %v", m.Time, g.Time, h.Time)
		}
		if m.Bounds != g.Bounds|h.Bounds {
			t.Fatalf("bounds %v", m.Bounds)
		}
	})
}

func TestGrantHasWholePathElements(t *testing.T) {
	m := Grant{Dirs: []files.Dir{{Path: "/home/ann", Write: true}}}.Meet(Grant{Dirs: []files.Dir{{Path: "/home/ann2", Write: true}}})
	if len(m.Dirs) != 0 {
		t.Errorf("/home/ann2 is taken for a part of /home/ann: %v", m.Dirs)
	}
}

// A directory that is not written as the absolute path it is means nothing:
// /srv/a/../../etc would look like a part of /srv/a.
func TestGrantTakesCleanPathsOnly(t *testing.T) {
	whole := Grant{Dirs: []files.Dir{{Path: "/", Write: true}, {Path: "/srv/a", Write: true}}}
	for _, path := range []string{"", ".", "srv/a", "/srv/a/../../etc", "/srv/a/", "//srv/a", "/srv/./a"} {
		if m := whole.Meet(Grant{Dirs: []files.Dir{{Path: path, Write: true}}}); len(m.Dirs) != 0 {
			t.Errorf("%q gives %v", path, m.Dirs)
		}
	}
}

func TestEffects(t *testing.T) {
	for _, tt := range []struct {
		e        Effects
		text     string
		readOnly bool
		within   Effects
		want     bool
	}{
		{0, "undeclared", false, allEffects &^ Runs, false},
		{0, "undeclared", false, allEffects, true},
		{Pure, "pure", true, 0, true},
		{Reads | Network, "reads,network", true, Reads, false},
		{Writes, "writes", false, Writes, true},
		{Pure | Destroys, "pure,destroys", false, Pure, false}, // Pure excuses nothing else
	} {
		if got := tt.e.String(); got != tt.text {
			t.Errorf("String() = %q, want %q", got, tt.text)
		}
		if got := tt.e.ReadOnly(); got != tt.readOnly {
			t.Errorf("%v.ReadOnly() = %v", tt.e, got)
		}
		if got := tt.e.Within(tt.within); got != tt.want {
			t.Errorf("%v.Within(%v) = %v", tt.e, tt.within, got)
		}
		var back Effects
		if err := back.UnmarshalText([]byte(tt.text)); err != nil || back != tt.e {
			t.Errorf("UnmarshalText(%q) = %v, %v", tt.text, back, err)
		}
	}
	var e Effects
	if err := e.UnmarshalText([]byte("reads,harmless")); err == nil || !strings.Contains(err.Error(), "harmless") {
		t.Errorf("an unknown effect is not refused by name: %v", err)
	}
}

// TestReachable: what is denied as a whole is not handed out, and what can only be
// read is read.
func TestReachable(t *testing.T) {
	dir := t.TempDir()
	slash := filepath.ToSlash(dir)
	whole := Grant{Dirs: []files.Dir{{Path: dir, Write: true}, {Path: filepath.Join(dir, "src"), Write: true}}, Denied: []string{slash + "/src"}, Fixed: []string{slash}}
	if left := whole.reachable().Dirs; len(left) != 1 || left[0].Path != dir || left[0].Write {
		t.Errorf("left of the grant: %+v", left)
	}
	if left := (Grant{Dirs: []files.Dir{{Path: dir, Write: true}}, Denied: []string{"nonsense"}}).reachable().Dirs; len(left) != 0 {
		t.Errorf("left of a grant that nobody understands: %+v", left)
	}
}
