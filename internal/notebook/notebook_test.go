package notebook

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/toolbox/notes"
)

// Screens read the list of tasks of a session and hear of changes.
func TestTodos(t *testing.T) {
	n := &Notebook{State: t.TempDir()}
	ann := toolcrib.Caller{Subject: "ann", Session: "s"}
	if list, err := n.Todos(t.Context(), ann); list != nil || err != nil {
		t.Errorf("without notes: %v, %v", list, err)
	}
	n.Watch(nil)()
	if n.Shown() != nil {
		t.Error("there is something to show")
	}
	if _, err := n.OpenNotes(t.Context(), settings.DefaultNotesBox()); err != nil {
		t.Fatal(err)
	}
	var heard []toolcrib.Caller
	defer n.Watch(func(c toolcrib.Caller) { heard = append(heard, c) })()
	want := []notes.Todo{{Content: "a", Status: notes.Pending}}
	if err := n.Notes.Change(t.Context(), ann, func(x *notes.Notes) error { x.Todos = want; return nil }); err != nil {
		t.Fatal(err)
	}
	if list, err := n.Todos(t.Context(), ann); !slices.Equal(list, want) || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	if !slices.Equal(heard, []toolcrib.Caller{ann}) {
		t.Errorf("heard: %v", heard)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	if _, err := n.OpenNotes(t.Context(), settings.NotesBox{MaxAge: -1}); err == nil {
		t.Error("a negative age was taken")
	}
}

// Labels go into files by the tool that brought them, and come back from there.
func TestLabels(t *testing.T) {
	table, err := policy.NewLabelTable(policy.LabelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ann := toolcrib.Caller{Subject: "ann"}
	n := &Notebook{Flow: &safety.Flow{Labels: table}}
	if got := n.taint(ann); got.Private+got.Untrusted != "" {
		t.Errorf("nothing was read: %+v", got)
	}
	n.Flow.Carry(ann, policy.LabelPublic, "x")
	n.Flow.Carry(ann, policy.LabelUntrusted, "web/fetch_page")
	if got := n.taint(ann); got.Private != "" || got.Untrusted != "web/fetch_page" {
		t.Errorf("%+v", got)
	}
	other := &Notebook{Flow: &safety.Flow{Labels: table}}
	other.carry(ann, n.taint(ann))
	if had, _, by := other.Flow.Session(ann); had != policy.LabelUntrusted || by.Tool != "web/fetch_page" {
		t.Errorf("%v, %v", had, by)
	}
	if got := (&Notebook{}).taint(ann); got.Untrusted == "" {
		t.Error("where nobody knows, it counts as from outside")
	}
	(&Notebook{}).carry(ann, n.taint(ann))
}

func TestFolder(t *testing.T) {
	home := t.TempDir()
	for dir, want := range map[string]string{"": filepath.Join(home, "state", "memory"), "~/notes": filepath.Join(home, "notes"), "sub": filepath.Join(home, "sub"), filepath.Join(home, "a", "..", "b"): filepath.Join(home, "b")} {
		if got := (settings.MemoryBox{Dir: dir}).Folder(filepath.Join(home, "state"), home); got != want {
			t.Errorf("%q: %s", dir, got)
		}
	}
	cfg := settings.Defaults()
	if WantsMemory(cfg) || len(Absent(cfg)) != 2 {
		t.Errorf("without agents: %v", Absent(cfg))
	}
}
