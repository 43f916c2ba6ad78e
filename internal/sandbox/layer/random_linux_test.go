package layer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomScript is some work on a few names, so that its steps meet each other. What
// fails is left out: it fails on a layer as it does without one.
func randomScript(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same for each run
	names := []string{"a", "b", "link", "src", "src/x", "src/deep", "src/deep/file", "empty", "n", "n/m", "n/m/o", "conf", "conf/.env", "tool"}
	name := func() string { return names[r.IntN(len(names))] }
	var out strings.Builder
	for range 3 + r.IntN(12) {
		step := ""
		switch r.IntN(11) {
		case 0, 1:
			step = fmt.Sprintf("echo %d > %s", r.IntN(3), name())
		case 2:
			step = fmt.Sprintf("echo %d >> %s", r.IntN(3), name())
		case 3:
			step = "rm -rf " + name()
		case 4, 5:
			step = "mkdir -p " + name()
		case 6:
			step = fmt.Sprintf("mv -T %s %s", name(), name())
		case 7:
			step = fmt.Sprintf("cp -rT %s %s", name(), name())
		case 8:
			step = fmt.Sprintf("ln -sfT %s %s", name(), name())
		case 9:
			step = fmt.Sprintf("test -L %s || chmod %s %[1]s", name(), []string{"700", "755", "750"}[r.IntN(3)])
		default:
			step = "rmdir " + name()
		}
		out.WriteString("{ " + step + "; } 2>/dev/null || :\n")
	}
	return out.String()
}

// randomProject has no further names: what moves one of them breaks the link.
const randomProject = project + `; rm hard`

func checkRandom(t *testing.T, seed uint64) {
	script := "umask 022; " + randomScript(seed)
	g, direct := newGround(t, randomProject), newGround(t, randomProject)
	before := listing(t, g.tree.Root)
	s := g.run(script)
	g.apply(s)
	direct.live(script)
	if got, want := listing(t, g.tree.Root), listing(t, direct.tree.Root); got != want {
		t.Fatalf("seed %d\n%s\ntold:\n%s\napplied:\n%s\nrun there:\n%s", seed, script, told(s, g.tree.Root), got, want)
	}
	if s.Empty() {
		return
	}
	if err := g.undo(); err != nil {
		t.Fatalf("seed %d\n%s\n%v", seed, script, err)
	}
	if now := listing(t, g.tree.Root); now != before {
		t.Fatalf("seed %d\n%s\nundone:\n%s\nbefore:\n%s", seed, script, now, before)
	}
}

// TestRandomWorkIsApplied: whatever is done on a layer, applying it gives the tree
// that the same work gives without one, and undoing that the tree from before.
func TestRandomWorkIsApplied(t *testing.T) {
	for seed := range uint64(40) {
		checkRandom(t, seed)
	}
}

func FuzzWorkIsApplied(f *testing.F) {
	f.Add(uint64(100))
	f.Fuzz(checkRandom)
}
