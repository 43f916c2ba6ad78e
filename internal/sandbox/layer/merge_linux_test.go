package layer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// stack is a layer that commands work on one after the other, while nobody answers.
type stack struct {
	*ground
	since  time.Time // of the first
	merged Tree
	n      int
}

func newStack(t *testing.T, before string) *stack { return &stack{ground: newGround(t, before)} }

// next runs a script on what the ones before it left.
func (k *stack) next(script string) {
	k.t.Helper()
	began := k.now()
	if k.n++; k.n == 1 {
		k.since = began
		k.on(script)
		k.merged = k.tree
		return
	}
	k.tree.Dir = filepath.Join(k.dir, fmt.Sprintf("layer%d", k.n))
	for _, dir := range []string{k.tree.Upper(), k.tree.Work()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			k.t.Fatal(err)
		}
	}
	k.earlier = k.merged.Dir
	k.on(script)
	before := k.held()
	merged, err := Merge(k.merged, k.tree, began, filepath.Join(k.dir, fmt.Sprintf("merged%d", k.n)))
	if err != nil {
		k.t.Fatal(err)
	}
	if after := k.held(); after != before {
		k.t.Fatalf("what earlier commands left was changed:\n%s\nbefore:\n%s", after, before)
	}
	k.merged = merged
}

// held lists what a layer holds, but for how many names it has. Only root can list
// what nobody may read.
func (k *stack) held() string {
	if os.Geteuid() != 0 {
		return ""
	}
	return regexp.MustCompile(` = \S+`).ReplaceAllString(listing(k.t, k.merged.Upper()), "")
}

// read reads what all of them left. What it was made of is gone by then.
func (k *stack) read() *Set {
	k.t.Helper()
	for i := range k.n {
		for _, dir := range []string{"layer", fmt.Sprintf("layer%d", i), fmt.Sprintf("merged%d", i)} {
			if dir = filepath.Join(k.dir, dir); dir != k.merged.Dir {
				if err := Remove(dir); err != nil {
					k.t.Fatal(err)
				}
			}
		}
	}
	s, err := Read(k.t.Context(), []Tree{k.merged}, k.since)
	if err != nil {
		k.t.Fatal(err)
	}
	return s
}

// TestCommandsOnOneLayer: what several commands did one after the other, each on what
// the ones before left, is what they do without a layer.
func TestCommandsOnOneLayer(t *testing.T) {
	for name, scripts := range map[string][]string{
		"new and changed again":     {`echo 1 > n; echo 1 >> a`, `echo 2 >> n; echo 2 >> a`},
		"new and removed again":     {`echo 1 > n; mkdir -p d/e; echo 1 > d/e/f`, `rm n; rm -r d`},
		"new and renamed":           {`echo new > n`, `mv n m`, `mv m a`},
		"renamed and renamed":       {`mv a n`, `mv n m`, `echo x >> m`},
		"deleted and made again":    {`rm -r src`, `mkdir src; echo other > src/other`},
		"deleted and made deeper":   {`rm -r src`, `mkdir -p src/deep`, `echo x > src/deep/x`},
		"a directory to a file":     {`rm -r src; echo file > src`, `rm src; mkdir src; echo x > src/y`},
		"a file to a directory":     {`rm a; mkdir a; echo x > a/x`, `rm -r a; echo file > a`},
		"replaced and filled":       {`rm -r src; mkdir src; echo 1 > src/x`, `echo 2 > src/deeper; mkdir src/deep`},
		"modes":                     {`chmod 700 src; chmod 600 a`, `chmod 755 src; echo x >> a`},
		"no rights left":            {`mkdir shut; echo x > shut/x; chmod 0 shut`, `echo 1 > n`, `chmod 700 shut; echo 2 >> shut/x`},
		"read-only directories":     {`mkdir -p ro/in; echo x > ro/in/x; chmod 555 ro/in ro`, `echo 1 > n; cat ro/in/x`},
		"links":                     {`ln -s a l; echo q > q; ln q l2`, `rm l; ln -s b l`},
		"nothing in between":        {`echo 1 > n`, `cat n a`, `cp a n2`},
		"many deletions":            {`rm -rf src; rm b`, `rm a`, `echo x > b`},
		"opaque over opaque":        {`rm -r src; mkdir src; echo 1 > src/1`, `rm -r src; mkdir src; echo 2 > src/2`},
		"a link to a directory":     {`rm -r src; ln -s . src`, `rm src; mkdir src`},
		"what is moved below a new": {`mkdir new; mv b new/b`, `mv new/b c; rmdir new`},
	} {
		t.Run(name, func(t *testing.T) {
			k, direct := newStack(t, randomProject), newGround(t, randomProject)
			for _, script := range scripts {
				k.next("umask 022; " + script)
				direct.live("umask 022; " + script)
			}
			s := k.read()
			k.apply(s)
			if got, want := listing(t, k.tree.Root), listing(t, direct.tree.Root); got != want {
				t.Errorf("told:\n%s\napplied:\n%s\nrun there:\n%s", told(s, k.tree.Root), got, want)
			}
		})
	}
}

func checkRandomStack(t *testing.T, seed uint64) {
	k, direct := newStack(t, randomProject), newGround(t, randomProject)
	var all []string
	for i := range 3 + seed%2 {
		script := "umask 022; " + randomScript(seed*10+i)
		all = append(all, script)
		k.next(script)
		direct.live(script)
	}
	s := k.read()
	if err := s.Apply(t.Context(), Options{Record: k.record()}); err != nil {
		t.Fatalf("seed %d\n%s\n%v", seed, strings.Join(all, "---\n"), err)
	}
	if got, want := listing(t, k.tree.Root), listing(t, direct.tree.Root); got != want {
		t.Fatalf("seed %d\n%s\ntold:\n%s\napplied:\n%s\nrun there:\n%s", seed, strings.Join(all, "---\n"), told(s, k.tree.Root), got, want)
	}
}

func TestRandomWorkOnOneLayer(t *testing.T) {
	for seed := range uint64(25) {
		checkRandomStack(t, seed)
	}
}

func FuzzWorkOnOneLayer(f *testing.F) {
	f.Add(uint64(100))
	f.Fuzz(checkRandomStack)
}

// TestConflictsBelowAKeptLayer: each path counts from when the command began that was
// the first to change it.
func TestConflictsBelowAKeptLayer(t *testing.T) {
	for name, c := range map[string]struct {
		first, person, second, conflict string
	}{
		"changed what the first changed":         {`echo mine >> a`, `echo theirs >> a`, `echo more > n`, "a"},
		"changed what both changed":              {`echo mine >> a`, `echo theirs >> a`, `echo more >> a`, "a"},
		"made what the first made":               {`echo mine > n`, `echo theirs > n`, `:`, "n"},
		"filled what the first removed":          {`rm -r src`, `echo theirs > src/theirs`, `mkdir src`, "src/theirs"},
		"changed what only the second changed":   {`echo mine > n`, `echo theirs >> a`, `echo more >> a`, ""},
		"made what only the second changed":      {`echo mine > n`, `echo theirs > m`, `echo more >> m`, ""},
		"removed what only the second saw":       {`echo mine > n`, `rm a`, `echo more > a`, ""},
		"changed a directory of the second only": {`echo mine > n`, `echo theirs > src/t`, `echo more > src/t; rm -r src/deep`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := newStack(t, randomProject)
			k.next(c.first)
			k.now()
			k.live(c.person)
			k.next(c.second)
			before := listing(t, k.tree.Root)
			err := k.read().Apply(t.Context(), Options{Record: k.record()})
			if c.conflict == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			refusedFor(t, err, filepath.Join(k.tree.Root, c.conflict), false)
			if now := listing(t, k.tree.Root); now != before {
				t.Errorf("now:\n%s\nthe person left:\n%s", now, before)
			}
		})
	}
}

// TestMarksArePutBack: a layer that could not be applied is the same as before.
func TestMarksArePutBack(t *testing.T) {
	script := `rm -r src; mkdir src; echo 1 > src/1; echo x >> a; mv b c; mkdir -p n/m; rm -r conf; mkdir shut; echo 1 > shut/1; mv tool shut/; chmod 0 shut`
	g := newGround(t, randomProject)
	s := g.run(script)
	want, marks := told(s, g.tree.Root), filepath.Join(g.dir, "marks")
	if err := s.Restore(); err != nil {
		t.Fatal(err)
	}
	if err := SaveMarks([]Tree{g.tree}, marks); err != nil {
		t.Fatal(err)
	}
	before := listing(t, g.tree.Root)
	s, err := Read(t.Context(), []Tree{g.tree}, s.since)
	if err != nil {
		t.Fatal(err)
	}
	// Somebody changes the last thing that is applied, so that all the others are
	// taken back.
	err = s.Apply(t.Context(), Options{Record: g.record(), at: func(point string) {
		if point == "recorded" {
			g.live(`echo theirs >> a`)
			before = listing(t, g.tree.Root)
		}
	}})
	if err == nil {
		t.Fatal("it was applied")
	}
	if now := listing(t, g.tree.Root); now != before {
		t.Fatalf("now:\n%s\nbefore:\n%s", now, before)
	}
	if err := RestoreMarks(marks); err != nil {
		t.Fatal(err)
	}
	again, err := Read(t.Context(), []Tree{g.tree}, s.since)
	if err != nil {
		t.Fatal(err)
	}
	if got := told(again, g.tree.Root); strings.Replace(got, "changed a conflict", "changed a", 1) != want {
		t.Errorf("told:\n%s\nbefore:\n%s", got, want)
	}
	if err := RestoreMarks(marks); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// TestMarksOfWhatIsNoChange: a layer with files that count as no change, which are
// removed when it is to be applied, can be put back as well.
func TestMarksOfWhatIsNoChange(t *testing.T) {
	g := newGround(t, randomProject)
	s, marks := g.run(`echo x >> a; echo x >> b`), filepath.Join(g.dir, "marks")
	s.Leave(func(c Change) bool { return filepath.Base(c.Path) == "b" })
	if err := SaveMarks([]Tree{g.tree}, marks); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), Options{Record: g.record(), at: func(point string) {
		if point == "recorded" {
			g.live(`echo theirs >> a`)
		}
	}}); err == nil {
		t.Fatal("it was applied")
	}
	if err := RestoreMarks(marks); err != nil {
		t.Fatal(err)
	}
	again, err := Read(t.Context(), []Tree{g.tree}, s.since)
	if err != nil || told(again, g.tree.Root) != "changed a conflict" {
		t.Errorf("told %s, %v", told(again, g.tree.Root), err)
	}
}
