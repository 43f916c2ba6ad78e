package reach

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/diskspace"
	"github.com/toolcrib/toolcrib/internal/text"
)

// writes says why a file could not be written whatever a person says: the disk is
// full, or the system lets this account write nothing there.
func (r Reachable) writes(q toolcrib.Question) error {
	if q.Spec.Box != "files" || q.Text != "" || q.Spec.Effects.All()&toolcrib.Writes == 0 || q.Spec.Effects.All()&toolcrib.Destroys != 0 {
		return nil // what is removed needs no room, and what has a text of its own is no call
	}
	var named struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	_ = json.Unmarshal(q.Input, &named) // what cannot be read names nothing
	if named.Path == "" {
		return nil
	}
	path := named.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Crib.Files.Base, path)
	}
	if !filepath.IsAbs(path) {
		return nil // of ~ and the like the handle knows more
	}
	return Room(path, uint64(len(named.Content)))
}

// Room says why a file of so many bytes could not be written; nil: it could, as far
// as the system tells.
func Room(path string, bytes uint64) error {
	no := func(format string, args ...any) error {
		return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: fmt.Sprintf(format, args...)}
	}
	if err := diskspace.Writable(path); err != nil {
		return no("%s cannot be written: %v; make it writable, or write elsewhere", text.ShowLine(path), err)
	}
	if left, err := diskspace.Free(filepath.Dir(path)); err == nil && left < max(bytes, 1) {
		return no("the disk is full: %d bytes are free for %s, which needs %d; make room there ('toolcrib doctor' says how)", left, text.ShowLine(path), bytes)
	}
	return nil
}
