package dialect

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	filesbox "github.com/toolcrib/toolcrib/toolbox/files"
	"github.com/toolcrib/toolcrib/toolbox/shell"
)

// room is a crib with the real boxes of files and shell behind the adapters.
type room struct {
	*toolcrib.Crib
	root string
}

// setup says how a room is furnished.
type setup struct {
	root    string // what is granted, and where relative names begin
	opt     Options
	write   bool
	guards  []toolcrib.Guard // nil: everything is allowed
	sandbox toolcrib.Sandbox // nil: no program is granted
	files   filesbox.Config
}

func newRoom(t testing.TB, s setup) *room {
	t.Helper()
	fileBox, err := filesbox.Open(t.Context(), s.files)
	if err != nil {
		t.Fatal(err)
	}
	shellBox, err := shell.Open(t.Context(), shell.Config{MaxTimeout: s.opt.MaxTimeout}, shell.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shellBox.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.guards == nil {
		s.guards = []toolcrib.Guard{cribtest.Allow()}
	}
	s.opt.Root = s.root
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Guards: s.guards, Sandbox: s.sandbox, Journal: toolcrib.NoJournal{},
		Grant: toolcrib.Grant{Dirs: []files.Dir{{Path: s.root, Write: s.write}}},
		Log:   slog.New(slog.DiscardHandler),
	}
	if s.sandbox != nil {
		c.Grant.Programs = []string{"/bin/sh"}
	}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{fileBox, shellBox}, Adapters: Adapters(s.opt)}); faults != nil {
		t.Fatal(faults)
	}
	return &room{c, s.root}
}

// call makes a call in a dialect: what it answered, or the refusal in the
// words of the dialect.
func (r *room) call(t testing.TB, dialect, tool string, input json.RawMessage) (*toolcrib.Result, string) {
	t.Helper()
	caller := toolcrib.Caller{Subject: "ann", Dialect: dialect}
	result, err := r.Call(t.Context(), toolcrib.Call{Tool: tool, Input: input, Caller: caller, Lenient: Lenient(dialect)})
	if err == nil {
		return result, ""
	}
	e, ok := toolcrib.AsError(err)
	if !ok {
		t.Fatal(err)
	}
	spec, _ := r.Tool(caller, tool)
	return nil, ErrorText(dialect, e, spec.Box)
}

// say makes a call and gives its text, whatever became of it.
func (r *room) say(t testing.TB, dialect, tool string, input any) string {
	t.Helper()
	result, refusal := r.call(t, dialect, tool, mustJSON(input))
	if result == nil {
		return "refused: " + refusal
	}
	return result.String()
}

// newTree makes a directory whose path has no links.
func newTree(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}
