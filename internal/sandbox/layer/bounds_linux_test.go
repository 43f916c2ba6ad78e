package layer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadingIsBounded: what cannot be judged in bounded memory is an error, and the live
// tree stays as it is.
func TestReadingIsBounded(t *testing.T) {
	g := newGround(t, project)
	since := g.now()
	g.on(`perl -e 'for (1..2100) { mkdir "d" or die; chdir "d" or die }'`)
	if _, err := Read(t.Context(), []Tree{g.tree}, since); !errors.Is(err, ErrTooDeep) && !errors.Is(err, ErrTooLong) {
		t.Errorf("2,100 directories in each other: %v", err)
	}
	for what, r := range map[string]*reader{
		"changes":  {set: &Set{Changes: make([]Change, mostChanges+1)}},
		"left out": {set: &Set{leftOut: make([]string, mostChanges+1)}},
		"touched":  {set: &Set{touched: make([]Change, mostChanges+1)}},
		"paths":    {set: &Set{}, paths: mostPaths},
	} {
		if r.ctx = t.Context(); r.ctx.Err() != nil {
			t.Fatal(r.ctx.Err())
		}
		if r.bound("x"); !errors.Is(r.ctx.Err(), ErrTooMany) {
			t.Errorf("too many %s: %v", what, r.ctx.Err())
		}
	}
}

// TestMeasure: what a layer holds is the larger of what files take and say to have, each
// once, and what cannot be seen is told.
func TestMeasure(t *testing.T) {
	g := newGround(t, project)
	held, err := Measure([]Tree{g.tree}, 1<<40)
	if err != nil || held.Bytes != 0 || held.Files != 0 || !held.Whole {
		t.Errorf("an empty layer: %+v, %v", held, err)
	}
	g.on(`mkdir -p n/m; head -c 1000000 /dev/zero > n/m/f; ln n/m/f n/g; truncate -s 5000000 holes; ln -s a l; rm b`)
	held, err = Measure([]Tree{g.tree}, 1<<40)
	if err != nil || held.Bytes < 6_000_000 || held.Bytes > 6_200_000 || held.Files != 7 || !held.Whole {
		t.Errorf("%+v, %v", held, err)
	}
	if held, err = Measure([]Tree{g.tree}, 10); err != nil || held.Bytes <= 10 {
		t.Errorf("more than enough: %+v, %v", held, err)
	}
	deep := filepath.Join(g.tree.Upper(), strings.Repeat("d/", deepest+2))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if held, err = Measure([]Tree{g.tree}, 1<<40); err != nil || held.Whole {
		t.Errorf("too deep to be looked at: %+v, %v", held, err)
	}
	if os.Geteuid() != 0 {
		shut := newGround(t, project)
		shut.on(`mkdir n; head -c 1000000 /dev/zero > n/f; chmod 0 n`)
		if held, err := Measure([]Tree{shut.tree}, 1<<40); err != nil || held.Whole {
			t.Errorf("a shut directory: %+v, %v", held, err)
		}
	}
}

// TestPathsAreSorted: a directory stands right before what is in it.
func TestPathsAreSorted(t *testing.T) {
	list := []string{"/a", "/a/b", "/a/b/c", "/a/b-c", "/a/b.c", "/a-b", "/a-b/c", "/ab", "/b"}
	for i, a := range list {
		for k, b := range list {
			if got, want := comparePaths(a, b), sign(i-k); got != want {
				t.Errorf("%s and %s: %d, want %d", a, b, got, want)
			}
		}
	}
}

func sign(n int) int { return max(-1, min(1, n)) }
