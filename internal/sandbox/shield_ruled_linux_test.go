package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// ruledShield is a shield for a project in which rules deny to make something.
func ruledShield(t *testing.T, patterns ...string) (s *sandbox.Shield, grant toolcrib.Grant, root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s = shield(t, "", []string{".env"}, nil)
	s.Holds = &sandbox.Holds{Dir: t.TempDir()}
	grant.Dirs = []files.Dir{{Path: root, Write: true}}
	for _, p := range patterns {
		grant.Unmade = append(grant.Unmade, root+"/"+p)
	}
	return s, grant, root
}

// TestRuledPlacesAreHeld: a directory that a rule denies is kept free while it is
// missing, until the last program has ended that must not make it.
func TestRuledPlacesAreHeld(t *testing.T) {
	s, grant, root := ruledShield(t, "Deploy/**", "src/gen/**", "none/gen/**", "infra/*.tf", "there/**")
	plantTree(t, root, "src/a", "there/a", "infra/main.tf")
	want := []string{"fix Deploy/", "pin infra/", "fix infra/main.tf", "pin src/", "fix src/gen/", "fix there/"}
	var holds []*sandbox.Hold
	for range 2 { // the second finds the placeholders of the first
		found, hold, err := s.Hold(grant, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := listed(t, root, found.Covers); !slices.Equal(got, want) {
			t.Errorf("covered: %q, want %q", got, want)
		}
		holds = append(holds, hold)
	}
	for i, hold := range holds {
		for _, dir := range []string{"Deploy", "src/gen"} {
			if _, err := os.Lstat(filepath.Join(root, dir)); err != nil {
				t.Errorf("%s before the end of program %d: %v", dir, i, err)
			}
		}
		if err := hold.Release(); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"Deploy", "src/gen", "none"} {
		if _, err := os.Lstat(filepath.Join(root, dir)); err == nil {
			t.Errorf("%s is there after the end", dir)
		}
	}
}

// TestRuledPlacesAreSetAside: what a program made although a rule denies it gets
// another name; what was there before, or lies beside it, is left alone.
func TestRuledPlacesAreSetAside(t *testing.T) {
	for name, ran := range map[string]time.Duration{"short": 0, "all day": time.Hour} {
		t.Run(name, func(t *testing.T) {
			s, grant, root := ruledShield(t, "infra/*.tf", "none/gen/**", "**/*.lock")
			plantTree(t, root, "infra/main.tf", "infra/a.txt", "old.lock", "deep/down/old.LOCK")
			found, hold, err := s.Hold(grant, "")
			if err != nil {
				t.Fatal(err)
			}
			found.BeganBefore(ran)
			made := []string{"infra/new.tf", "none/gen/w", "new.lock", "deep/other/NEW.lock", "infra/link.tf"}
			fine := []string{"infra/main.tf", "infra/a.txt", "old.lock", "deep/down/old.LOCK", "infra/new.txt", "none/w"}
			plantTree(t, root, "infra/new.tf", "none/gen/w", "new.lock", "deep/other/NEW.lock", "infra/new.txt", "none/w")
			if err := os.Symlink("a.txt", filepath.Join(root, "infra", "link.tf")); err != nil {
				t.Fatal(err)
			}
			notes := found.Sweep()
			if err := hold.Release(); err != nil {
				t.Fatal(err)
			}
			for _, file := range made {
				if _, err := os.Lstat(filepath.Join(root, file)); (err == nil) != (ran > 0) {
					t.Errorf("%s: %v", file, err)
				}
				if told := filepath.Join(root, strings.TrimSuffix(file, "/w")); !slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, told+" was made") }) {
					t.Errorf("%s is not told: %q", file, notes)
				}
			}
			for _, file := range fine {
				if _, err := os.Lstat(filepath.Join(root, file)); err != nil {
					t.Error(err)
				}
			}
			if len(notes) != len(made) {
				t.Errorf("%q", notes)
			}
			if ran == 0 {
				if again := found.Sweep(); len(again) > 0 {
					t.Errorf("what was set aside is set aside again: %q", again)
				}
			}
		})
	}
}

// TestRuledPlacesAfterADeath: what was made is judged also if whoever started the
// program is gone.
func TestRuledPlacesAfterADeath(t *testing.T) {
	s, grant, root := ruledShield(t, "infra/*.tf")
	plantTree(t, root, "infra/main.tf")
	found, hold, err := s.Hold(grant, "")
	if err != nil {
		t.Fatal(err)
	}
	unswept, err := found.WriteDown()
	if err != nil {
		t.Fatal(err)
	}
	plantTree(t, root, "infra/new.tf")
	if err := unswept.File().Close(); err != nil { // as when we die
		t.Fatal(err)
	}
	notes := s.Holds.Judge()
	if _, err := os.Lstat(filepath.Join(root, "infra", "new.tf")); err == nil || len(notes) != 1 {
		t.Errorf("it stays: %q", notes)
	}
	if _, err := os.Lstat(filepath.Join(root, "infra", "main.tf")); err != nil {
		t.Error(err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestDeniedBuild: what a denied build leads to is hidden too, and told; the packages
// that it uses are not.
func TestDeniedBuild(t *testing.T) {
	s, grant, root := ruledShield(t)
	plantTree(t, root, "node_modules/q/a", "src/a", "dist/a")
	for name, to := range map[string]string{"node_modules": "../node_modules", "q": "../node_modules/q", "src": "../src"} {
		if err := os.Symlink(to, filepath.Join(root, "dist", name)); err != nil {
			t.Fatal(err)
		}
	}
	grant.Denied = []string{root + "/dist/**"}
	found, err := s.LookAt(grant)
	if err != nil {
		t.Fatal(err)
	}
	hidden := func(name string) bool {
		return slices.ContainsFunc(found.Covers, func(c sandbox.Cover) bool { return c.Kind == sandbox.Hide && c.Path == filepath.Join(root, name) })
	}
	if hidden("node_modules") || hidden("node_modules/q") || !hidden("src") || !hidden("dist") {
		t.Errorf("%q", listed(t, root, found.Covers))
	}
	if len(found.Notes) != 1 || !strings.HasPrefix(found.Notes[0], filepath.Join(root, "src")+" is hidden") {
		t.Errorf("%q", found.Notes)
	}
}
