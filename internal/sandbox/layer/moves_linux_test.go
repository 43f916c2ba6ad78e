package layer

import (
	"fmt"
	"testing"
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
