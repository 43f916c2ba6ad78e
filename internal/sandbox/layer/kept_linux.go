package layer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/toolcrib/toolcrib/internal/difference"
)

// Where the layer lies on another file system than a tree, what was there before cannot
// stay where it was renamed to. A copy of it is kept beside the record, within bounds.

// The bounds on what is copied to be kept.
const (
	maxKeptBytes = 256 << 20
	maxKeptFiles = 20_000
)

// keptName is the directory beside the record with these copies.
const keptName = "kept"

// Unkept tells which of the accepted changes could not be taken back once they are
// applied, and why; empty: all of them can.
func (s *Set) Unkept(accept func(Change) bool) string {
	for i, t := range s.trees {
		if same, err := sameMount(t.Root, t.Dir); err == nil && same {
			continue
		}
		files, size := 0, int64(0)
		for _, c := range s.Changes {
			if c.tree == i && c.Before.Exists() && !c.ModeOnly && accept(c) {
				files++
				size += c.Before.Size
			}
		}
		if why := tooMuch(files, size); why != "" {
			return fmt.Sprintf("What these changes replace in %s cannot be taken back later with 'toolcrib journal undo': %s.", difference.Path(t.Root), why)
		}
	}
	return ""
}

// tooMuch says why so much is not copied to be kept.
func tooMuch(files int, size int64) string {
	if files <= maxKeptFiles && size <= maxKeptBytes {
		return ""
	}
	return fmt.Sprintf("it lies on another file system than Toolcrib's state, and is larger than what is copied (%d files, %s)", files, bytesOf(size))
}

// keepOld copies what was taken out of trees on other file systems to the directory of
// the record. What cannot be kept is noted, and is no reason to take the changes back.
func (r *record) keepOld(ctx context.Context, dir string) {
	for i := range r.Trees {
		t := &r.Trees[i]
		if !t.Temporary {
			continue
		}
		if err := r.keepTree(ctx, i, r.keptAt(dir, i)); err != nil {
			t.NotKept = err.Error()
		}
	}
}

func (r *record) keepTree(ctx context.Context, tree int, to string) error {
	k := &copier{ctx: ctx, links: map[identity]string{}, left: &allowance{files: maxKeptFiles, bytes: maxKeptBytes}}
	return r.olds(tree, func(st *step) error {
		target := filepath.Join(to, st.Aside)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return k.copy(filepath.Join(r.Trees[tree].Stage, st.Aside), target)
	})
}

// keptAt is the directory beside the record with what is kept of a tree.
func (*record) keptAt(dir string, tree int) string {
	return filepath.Join(dir, keptName, strconv.Itoa(tree))
}

// olds goes over the steps of a tree that took something out of it.
func (r *record) olds(tree int, do func(*step) error) error {
	for i := range r.Steps {
		st := &r.Steps[i]
		if st.Tree != tree || st.Action != take && st.Action != swap {
			continue
		}
		if err := do(st); err != nil {
			return err
		}
	}
	return nil
}

// openStages makes the stages anew that were removed when the changes were applied.
func (r *record) openStages(made *stages) error {
	for i := range r.Trees {
		t := &r.Trees[i]
		if !t.Temporary {
			continue
		}
		stage, err := made.beside(t.Root)
		if err != nil {
			return err
		}
		t.Stage = stage
		for j := range r.Steps {
			if st := &r.Steps[j]; st.Tree == i && st.Aside != "" {
				if err := os.MkdirAll(filepath.Join(t.Stage, filepath.Dir(st.Aside)), 0o700); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// fetchOld copies what was kept into the new stages.
func (r *record) fetchOld(ctx context.Context, dir string) error {
	for i := range r.Trees {
		t := &r.Trees[i]
		if !t.Temporary {
			continue
		}
		k := &copier{ctx: ctx, links: map[identity]string{}}
		err := r.olds(i, func(st *step) error {
			to := filepath.Join(t.Stage, st.Aside)
			if err := k.copy(filepath.Join(r.keptAt(dir, i), st.Aside), to); err != nil {
				return err
			}
			e, err := place{unix.AT_FDCWD, to}.entry()
			st.Old = e.id
			return err
		})
		if err != nil {
			return fmt.Errorf("fetching what was in %s before: %w", t.Root, err)
		}
	}
	return nil
}

// allowance is how much may still be copied.
type allowance struct {
	files int
	bytes int64
}

// take counts a file; it says why it is not to be copied.
func (a *allowance) take(size int64) error {
	if a == nil {
		return nil
	}
	a.files--
	a.bytes -= size
	if a.files < 0 || a.bytes < 0 {
		return fmt.Errorf("it is larger than what is copied (%d files, %s)", maxKeptFiles, bytesOf(maxKeptBytes))
	}
	return nil
}

// bytesOf writes a size as people read it.
func bytesOf(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
