package layer

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMovesOfEqualFiles: of files with one content each is the source of one move, of the
// file with its own name if there is one, and many of them take no longer than others.
func TestMovesOfEqualFiles(t *testing.T) {
	const many = 100_000
	m := &mover{bySum: map[[32]byte]*deleted{}}
	olds := make([]*Change, many)
	for i := range olds {
		olds[i] = &Change{rel: fmt.Sprintf("old/%d", i)}
		m.add([32]byte{}, olds[i])
	}
	d := m.bySum[[32]byte{}]
	for i := many - 1; i >= 0; i -= 2 {
		if got := d.take(fmt.Sprint(i)); got != olds[i] {
			t.Fatalf("%d has the source %v", i, got)
		}
	}
	for i := 0; i < many; i += 2 {
		if got := d.take("another"); got != olds[i] {
			t.Fatalf("%d has the source %v", i, got)
		}
	}
	if got := d.take("0"); got != nil {
		t.Errorf("%v is the source of two moves", got)
	}
}

// TestNamesOfOneFileAreHashedOnce: a command can give a large file tens of thousands of
// names, beside a deleted file of its size. Reading it once for each of them would keep
// Toolcrib busy for hours, where nothing can end it.
func TestNamesOfOneFileAreHashedOnce(t *testing.T) {
	g := newGround(t, `mkdir old; truncate -s 64M old/a; ln old/a old/b`)
	opened := 0
	open := func(p place) (*os.File, error) {
		opened++
		return openFile(p)
	}
	m := &mover{sums: map[identity][sha256.Size]byte{}}
	for _, rel := range []string{"old/a", "old/b", "old/a"} {
		e, err := place{unix.AT_FDCWD, filepath.Join(g.tree.Root, rel)}.entry()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.sum(e, g.tree.Root, rel, open); err != nil {
			t.Fatal(err)
		}
	}
	if opened != 1 {
		t.Errorf("it was read %d times", opened)
	}
	began := time.Now()
	set := g.run(`rm -r old; mkdir new; truncate -s 64M new/f; cd new; perl -e 'link "f", $_ or die for 1..5000'`)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("5,000 names took %s", took)
	}
	if c, found := set.Find(filepath.Join(g.tree.Root, "new", "f")); !found || c.Kind != Created {
		t.Errorf("%+v", c)
	}
}

// TestBackupOfAnUnchangedFile: programs that edit a file keep the old one under another
// name and write a new one, also where nothing is to be edited. Nobody else did that.
func TestBackupOfAnUnchangedFile(t *testing.T) {
	g := newGround(t, `echo one > a; echo two > b`)
	s := g.run(`mv a a.bak; echo one > a; sed -i.bak s/none/some/ b`)
	for _, c := range s.Changes {
		if c.Conflict || c.Kind != Created || !c.Moved {
			t.Errorf("%+v", c)
		}
	}
	if len(s.Changes) != 2 {
		t.Errorf("%d changes", len(s.Changes))
	}
}
