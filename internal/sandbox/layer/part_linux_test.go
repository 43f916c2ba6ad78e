package layer

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/partial"
)

// TestRandomPartsAreApplied: whatever part of random work a person takes can be applied,
// and taken back.
func TestRandomPartsAreApplied(t *testing.T) {
	taken := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4)) //nolint:gosec // the same for each run
		g := newGround(t, randomProject)
		before := listing(t, g.tree.Root)
		s := g.run("umask 022; " + randomScript(r.Uint64()))
		var set partial.Set
		var named []string
		for _, c := range s.Changes {
			set = append(set, partial.Of(c.Path, c.From, c.Before.Info(), c.After.Info()))
			if c.Conflict {
				s.Overwrite(c.Path)
			}
			if r.IntN(3) == 0 {
				named = append(named, c.Path)
			}
		}
		refused := map[string]bool{}
		if len(set) > 0 && r.IntN(2) == 0 {
			refused[set[r.IntN(len(set))].Path] = true
		}
		in, err := set.Only(named, refused)
		if err != nil || len(in) == 0 {
			continue
		}
		taken++
		if err := s.Apply(t.Context(), Options{Record: g.record(), Accept: func(c Change) bool { return in[c.Path] }}); err != nil {
			t.Fatalf("seed %d: %v\n%s\ntook %v", seed, err, told(s, g.tree.Root), in)
		}
		for path := range in {
			c, _ := s.Find(path)
			at := place{unix.AT_FDCWD, path}
			if now, err := at.entry(); err != nil || now.Exists() != c.After.Exists() || now.Mode.Type() != c.After.Mode.Type() {
				t.Errorf("seed %d: %s is %v, want %v", seed, path, now.Mode, c.After.Mode)
			}
		}
		for _, c := range s.Changes {
			if now, err := (place{unix.AT_FDCWD, c.Path}).entry(); !in[c.Path] && c.Before.Exists() && (err != nil || now.Mode.Type() != c.Before.Mode.Type()) {
				t.Errorf("seed %d: %s was not taken, and is %v", seed, c.Path, now.Mode)
			}
		}
		if err := g.undo(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if now := listing(t, g.tree.Root); now != before {
			t.Fatalf("seed %d: undone:\n%s\nbefore:\n%s", seed, now, before)
		}
	}
	if taken < 20 {
		t.Errorf("only %d parts", taken)
	}
}
