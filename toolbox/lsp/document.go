package lsp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/toolbox/lsp/internal/position"
)

// The bounds of documents.
const (
	maxText = 8 << 20 // bytes of one
	maxOpen = 64      // open at once in one server
)

// document is a file that a server was told the content of.
type document struct {
	language string
	version  int
	sum      [sha256.Size]byte
	text     *position.Text
	body     string
	bom      bool
	used     time.Time
	before   int // how often the server had said what is wrong with it when it last changed
}

const bom = "\uFEFF"

// content reads a file through the handle of the call.
func content(handle *files.Handle, file string) (text string, mark bool, stamp files.Stamp, err error) {
	data, stamp, err := handle.ReadFile(file, maxText)
	if err != nil {
		return "", false, stamp, err
	}
	if !utf8.Valid(data) {
		return "", false, stamp, fmt.Errorf("%q is not UTF-8 text, and language servers read nothing else", file)
	}
	text, mark = strings.CutPrefix(string(data), bom)
	return text, mark, stamp, nil
}

// update brings what a server knows up to date with the disk, and opens a document. Who
// made the changes does not matter: edit_file, a command or an editor. An empty file
// opens none.
func (s *server) update(ctx context.Context, handle *files.Handle, file, language string) (*document, error) {
	select {
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.changes(ctx, handle, file); err != nil || file == "" {
		return nil, err
	}
	return s.open(ctx, handle, file, language)
}

// changes tells a server what became different since it was last asked. Those that are
// open are told by their content, the others by their names.
func (s *server) changes(ctx context.Context, handle *files.Handle, target string) error {
	at := time.Now()
	list, more := s.box.needs.Scan(ctx, s.root, s.spec.goesBy)
	if err := ctx.Err(); err != nil {
		return err
	}
	old, since := s.disk, s.scanned
	s.remember(list, at)
	type event struct {
		URI  string `json:"uri"`
		Type int    `json:"type"`
	}
	const created, changed, deleted = 1, 2, 3
	var events []event
	add := func(file string, kind int) { events = append(events, event{uriOf(file), kind}) }
	for file, now := range s.disk {
		was, known := old[file]
		switch {
		case !known:
			add(file, created)
		case !was.Mod.Equal(now.Mod) || was.Size != now.Size || recent(now, since):
			add(file, changed)
		}
	}
	for file := range old {
		if _, there := s.disk[file]; !there && !more {
			add(file, deleted)
		}
	}
	if len(events) > 0 {
		s.hasChanged()
		slices.SortFunc(events, func(a, b event) int { return strings.Compare(a.URI, b.URI) })
		if err := s.tell(ctx, "workspace/didChangeWatchedFiles", map[string]any{"changes": events}); err != nil {
			return err
		}
	}
	for _, file := range slices.Sorted(maps.Keys(s.docs)) {
		was, known := old[file]
		now, there := s.disk[file]
		if known && there && was.Mod.Equal(now.Mod) && was.Size == now.Size && !recent(now, since) && file != target {
			continue
		}
		if err := s.reread(ctx, handle, file); err != nil {
			return err
		}
	}
	return nil
}

// recent: the file was written so shortly before it was looked at that a second change
// may have left the same time.
func recent(f Seen, looked time.Time) bool { return f.Mod.After(looked.Add(-50 * time.Millisecond)) }

func (s *server) hasChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = time.Now()
}

// seen is how the disk looked when it was last looked at.
func (s *server) seen() map[string]Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.disk // never changed, only replaced
}

// remember keeps how the disk looks.
func (s *server) remember(list []Seen, at time.Time) {
	disk := make(map[string]Seen, len(list))
	for _, f := range list {
		disk[f.Path] = f
	}
	s.mu.Lock()
	s.disk, s.scanned = disk, at
	s.mu.Unlock()
}

// reread tells a server what an open file holds now.
func (s *server) reread(ctx context.Context, handle *files.Handle, file string) error {
	doc := s.docs[file]
	text, mark, _, err := content(handle, file)
	if err != nil { // it is gone, or is no text any more
		return s.shut(ctx, file)
	}
	sum := sha256.Sum256([]byte(text))
	if doc.bom = mark; sum == doc.sum {
		return nil
	}
	s.mu.Lock()
	if known := s.known[file]; known != nil {
		doc.before = known.count
	}
	s.told = time.Now()
	doc.version++
	doc.sum, doc.body, doc.text = sum, text, position.New(text)
	s.mu.Unlock()
	if err := s.tell(ctx, "textDocument/didChange", map[string]any{
		"textDocument": versionedID{uriOf(file), doc.version}, "contentChanges": []any{map[string]string{"text": text}},
	}); err != nil {
		return err
	}
	if !s.caps.wantsSave() {
		return nil
	}
	return s.tell(ctx, "textDocument/didSave", map[string]any{"textDocument": documentID{uriOf(file)}, "text": text})
}

// open has a document open. It is as on the disk then.
func (s *server) open(ctx context.Context, handle *files.Handle, file, language string) (*document, error) {
	if doc := s.docs[file]; doc != nil {
		doc.used = time.Now()
		return doc.copy(), nil
	}
	text, mark, _, err := content(handle, file)
	if err != nil {
		return nil, err
	}
	if len(s.docs) >= maxOpen {
		oldest := ""
		for other, doc := range s.docs {
			if oldest == "" || doc.used.Before(s.docs[oldest].used) {
				oldest = other
			}
		}
		if err := s.shut(ctx, oldest); err != nil {
			return nil, err
		}
	}
	doc := &document{language: language, version: 1, sum: sha256.Sum256([]byte(text)), body: text, text: position.New(text), bom: mark, used: time.Now()}
	s.mu.Lock()
	if known := s.known[file]; known != nil {
		doc.before = known.count
	}
	s.docs[file] = doc
	s.mu.Unlock()
	err = s.tell(ctx, "textDocument/didOpen", map[string]any{"textDocument": documentItem{uriOf(file), language, doc.version, text}})
	return doc.copy(), err
}

// shut closes a document.
func (s *server) shut(ctx context.Context, file string) error {
	s.mu.Lock()
	delete(s.docs, file)
	s.mu.Unlock()
	return s.tell(ctx, "textDocument/didClose", map[string]any{"textDocument": documentID{uriOf(file)}})
}

// copy is the document as it is now, for who reads it while others go on.
func (d *document) copy() *document {
	now := *d
	return &now
}

// gone reports whether an error says that there is no such file.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
