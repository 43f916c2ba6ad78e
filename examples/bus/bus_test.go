package main

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/ovos"
)

// TestToolbox holds the contract to the common suite; testdata/specs/notes.json
// is what models will read.
func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(testing.TB) toolcrib.Toolbox { return notes() })
}

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), "", &out); err != nil {
		t.Fatal(err)
	}
	want := `directly: wrote 11 bytes
on the bus: notes has read_note and write_note
over the bus: "milk, bread"
over the bus: That place is not open to me: denied: "../secret.txt" is outside the granted directories
`
	if out.String() != want {
		t.Errorf("it printed\n%s\nwant\n%s", out.String(), want)
	}
}

// What was written over the bus is read directly, and the other way round.
func TestBothWays(t *testing.T) {
	crib, err := open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	client, stop, err := bind(t.Context(), crib, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := client.Toolbox(t.Context(), "notes"); err != nil {
		t.Fatal(err)
	}
	if _, err := ovos.Invoke[writeOut](t.Context(), client, "notes", "write_note", writeIn{Name: "a.txt", Text: "from the bus"}); err != nil {
		t.Fatal(err)
	}
	got, err := toolcrib.Invoke[readOut](t.Context(), crib, "read_note", readIn{Name: "a.txt"})
	if err != nil || got.Text != "from the bus" {
		t.Errorf("directly: %+v, %v", got, err)
	}
}
