package governed_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/governed"
)

func open(t *testing.T, cfg governed.Config) *governed.Crib {
	t.Helper()
	crib, err := governed.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := crib.Close(); err != nil {
			t.Error(err)
		}
	})
	return crib
}

func call(t *testing.T, crib *governed.Crib, tool, input string) error {
	t.Helper()
	_, err := crib.Call(t.Context(), toolcrib.Call{Tool: tool, Input: json.RawMessage(input), Caller: toolcrib.Caller{Subject: "ann"}})
	return err
}

// TestZero: with nothing but a place for the journal there is nothing to call.
func TestZero(t *testing.T) {
	crib := open(t, governed.Config{State: t.TempDir()})
	for spec := range crib.Tools(toolcrib.Caller{Subject: "ann"}) {
		if spec.Box != "artifact" { // what was cut from results, of which there are none
			t.Errorf("there is %s/%s, though nobody named its box: add it to the list of boxes in governed.go", spec.Box, spec.Name)
		}
	}
	if err := call(t, crib, "read_file", `{"path":"x"}`); toolcrib.CodeOf(err) != toolcrib.CodeNotFound {
		t.Errorf("got %v", err)
	}
	if records, err := crib.Records(t.Context(), 0); err != nil || len(records) != 1 || records[0].Tool != "read_file" {
		t.Errorf("records %v, %v", records, err)
	}
}

// TestNobodyToAsk: what changes something is not done where nobody can be asked,
// unless a rule allows it.
func TestNobodyToAsk(t *testing.T) {
	box := []toolcrib.Toolbox{toolcrib.NewBox("mail", sendMail())}
	const input = `{"to":"bob@example.com","text":"x"}`
	if err := call(t, open(t, governed.Config{State: t.TempDir(), Toolboxes: box}), "send_mail", input); toolcrib.CodeOf(err) != toolcrib.CodeUnavailable {
		t.Errorf("nobody is there: %v", err)
	}
	if err := call(t, open(t, governed.Config{State: t.TempDir(), Toolboxes: box, Mode: "plan"}), "send_mail", input); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("in plan mode: %v", err)
	}
	if err := call(t, open(t, governed.Config{State: t.TempDir(), Toolboxes: box, Allow: []string{"send_mail"}}), "send_mail", input); err != nil {
		t.Errorf("allowed: %v", err)
	}
}

// TestStateIsOutOfReach: no tool touches the journal, whatever is granted.
func TestStateIsOutOfReach(t *testing.T) {
	dir := t.TempDir()
	crib := open(t, governed.Config{State: filepath.Join(dir, "state"), BuiltIn: []string{"files"}, Write: []string{dir}, Dir: dir, Mode: "yolo"})
	if err := call(t, crib, "write_file", `{"path":"note.txt","content":"x"}`); err != nil {
		t.Errorf("a file of its own: %v", err)
	}
	if err := call(t, crib, "write_file", `{"path":"state/note.txt","content":"x"}`); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Errorf("a file of the state: %v", err)
	}
}

// TestBadConfig: what does not work is not left out.
func TestBadConfig(t *testing.T) {
	mail := toolcrib.NewBox("mail", sendMail())
	for _, c := range []struct {
		want string
		cfg  governed.Config
	}{
		{"State has to name", governed.Config{}},
		{"no toolbox \"fles\"", governed.Config{BuiltIn: []string{"fles"}}},
		{"call governed.Main first", governed.Config{BuiltIn: []string{"shell"}}},
		{"holds nothing back", governed.Config{Sandbox: "host"}},
		{"mode", governed.Config{Mode: "fast"}},
		{"send_male", governed.Config{Toolboxes: []toolcrib.Toolbox{mail}, Deny: []string{"send_male"}}},
		{"mail", governed.Config{Toolboxes: []toolcrib.Toolbox{mail, mail}}},
	} {
		if c.want != "State has to name" {
			c.cfg.State = t.TempDir()
		}
		crib, err := governed.Open(t.Context(), c.cfg)
		if err == nil {
			t.Errorf("want an error about %q", c.want)
			_ = crib.Close()
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestTwo: two cribs in one program do not know of each other.
func TestTwo(t *testing.T) {
	one, two := open(t, governed.Config{State: t.TempDir(), BuiltIn: []string{"math"}}), open(t, governed.Config{State: t.TempDir()})
	if err := call(t, one, "evaluate_expression", `{"expression":"1+1"}`); err != nil {
		t.Error(err)
	}
	if records, err := two.Records(t.Context(), 0); err != nil || len(records) != 0 {
		t.Errorf("the other journal has %v, %v", records, err)
	}
}

// TestNoPrograms: without Main no tool runs programs, also one of one's own.
func TestNoPrograms(t *testing.T) {
	if crib := open(t, governed.Config{State: t.TempDir()}); crib.Sandbox != nil {
		t.Errorf("there is a sandbox, %T", crib.Sandbox)
	}
}
