package notes

import (
	"errors"
	"testing"
)

// What the store cannot do is told, by every tool.
func TestBrokenStore(t *testing.T) {
	s := newShelf()
	b := open(t, s)
	s.err = errors.New("the disk is full")
	for tool, in := range map[string]fields{
		"scratchpad_read": {}, "scratchpad_write": {"key": "a", "value": "b"}, "todo_write": todos("pending:a"), "read_notes": {"part": "todos"},
	} {
		if got, err := do(t, b, "s", tool, in); err == nil || err.Error() != "the disk is full" {
			t.Errorf("%s: %s, %v", tool, got, err)
		}
	}
}
