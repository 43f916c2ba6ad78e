package files

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// person answers questions as a function says.
type person func(toolcrib.Question) toolcrib.Answer

func (p person) Approve(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	return p(q), nil
}

// asked is a desk whose calls all need a person.
func asked(t *testing.T, answer person) *desk {
	t.Helper()
	d := newDesk(t, Config{})
	d.Guards = []toolcrib.Guard{cribtest.Ask("to see")}
	d.Approver = answer
	return d
}

func yes(toolcrib.Question) toolcrib.Answer { return toolcrib.Answer{Decision: toolcrib.Allow} }

// TestPreview: the person sees what will happen, and then it happens.
func TestPreview(t *testing.T) {
	shown := ""
	d := asked(t, func(q toolcrib.Question) toolcrib.Answer {
		shown = q.Preview
		return yes(q)
	})
	for _, tt := range []struct{ tool, input, want string }{
		{"edit_file", `{"path":"f","old_text":"two","new_text":"2"}`, "--- f\n+++ f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
		{"write_file", `{"path":"f","content":"all new\n"}`, "-one\n-two\n+all new\n"},
		{"write_file", `{"path":"new/dir/g","content":"x\n"}`, "@@ -0,0 +1 @@\n+x\n"},
		{"write_file", `{"path":"f","content":"one\ntwo\n"}`, "nothing would change"},
		{"write_file", `{"path":"f","content":"three\n","append":true}`, " two\n+three\n"},
		{"delete_file", `{"path":"f"}`, "would remove the file \"f\" of 8 bytes\n--- f\n+++ f\n@@ -1,2 +0,0 @@\n-one\n-two\n"},
		{"delete_file", `{"path":"empty"}`, "would remove the directory \"empty\""},
		{"delete_file", `{"path":"link"}`, "would remove the link \"link\", not what it leads to"},
		{"read_file", `{"path":"f"}`, ""},
	} {
		d.put(t, "f", "one\ntwo\n")
		if err := os.MkdirAll(filepath.Join(d.dir, "empty"), 0o755); err != nil {
			t.Fatal(err)
		}
		_ = os.Symlink("f", filepath.Join(d.dir, "link"))
		d.box.seen.drop(keyFor(&toolcrib.Env{Call: toolcrib.Call{Caller: toolcrib.Caller{Subject: "ann", Session: "s"}}}, filepath.Join(d.dir, "f")))
		shown = ""
		if _, fault := d.raw(t, tt.tool, []byte(tt.input)); fault != "" || !strings.Contains(shown, tt.want) || tt.want == "" && shown != "" {
			t.Errorf("%s %s: %s; shown\n%s", tt.tool, tt.input, fault, shown)
		}
	}
	if n := len(d.box.approved.kept); n != 0 {
		t.Errorf("%d approvals are still remembered", n)
	}
}

// TestPreviewRefuses: nobody is asked about what cannot be done.
func TestPreviewRefuses(t *testing.T) {
	d := asked(t, func(q toolcrib.Question) toolcrib.Answer {
		t.Errorf("a person was asked about %s %s", q.Call.Tool, q.Input)
		return toolcrib.Answer{}
	})
	d.put(t, "f", "a a\n")
	d.put(t, ".env", "KEY\n")
	for _, tt := range []struct{ tool, input, want string }{
		{"edit_file", `{"path":"f","old_text":"a","new_text":"b"}`, "2 times, in lines 1, 1"},
		{"edit_file", `{"path":"gone","old_text":"a","new_text":"b"}`, "no such file"},
		{"write_file", `{"path":"../out/x","content":""}`, "outside"},
		{"write_file", `{"path":".env","content":""}`, "protected"},
		{"write_file", `{"path":"new/.env","content":""}`, "protected"},
		{"delete_file", `{"path":".env"}`, "protected"},
		{"delete_file", `{"path":"gone"}`, "no such file"},
	} {
		if _, fault := d.raw(t, tt.tool, []byte(tt.input)); !strings.Contains(fault, tt.want) {
			t.Errorf("%s %s: %s", tt.tool, tt.input, fault)
		}
	}
}

// TestApprovedThenChanged: what a person approved of happens only to the file
// that they saw.
func TestApprovedThenChanged(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, d *desk){
		"content": func(t *testing.T, d *desk) { d.put(t, "f", "one\ntwo\nmore\n") },
		"gone": func(t *testing.T, d *desk) {
			if err := os.Remove(filepath.Join(d.dir, "f")); err != nil {
				t.Fatal(err)
			}
		},
		"a link to its twin": func(t *testing.T, d *desk) {
			d.put(t, "twin", "one\ntwo\n")
			if err := os.Remove(filepath.Join(d.dir, "f")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("twin", filepath.Join(d.dir, "f")); err != nil {
				t.Skip(err)
			}
		},
		"a directory": func(t *testing.T, d *desk) {
			if err := os.Remove(filepath.Join(d.dir, "f")); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(d.dir, "f"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for tool, input := range map[string]string{
			"edit_file": `{"path":"f","old_text":"two","new_text":"2"}`, "write_file": `{"path":"f","content":"new"}`, "delete_file": `{"path":"f"}`,
		} {
			t.Run(name+" "+tool, func(t *testing.T) {
				var d *desk
				times := 0
				d = asked(t, func(q toolcrib.Question) toolcrib.Answer {
					if times++; times > 1 { // shown something else, they say no
						return toolcrib.Answer{}
					}
					change(t, d)
					return yes(q)
				})
				d.put(t, "f", "one\ntwo\n")
				if _, fault := d.raw(t, tool, []byte(input)); fault == "" {
					t.Errorf("it was done to something else")
				}
				if name == "a link to its twin" && content(t, filepath.Join(d.dir, "twin")) != "one\ntwo\n" {
					t.Error("the twin was changed")
				}
			})
		}
	}
	// A new file in a directory that someone else makes meanwhile is as shown;
	// one that is there by then is not, and is asked about again.
	for made, want := range map[string]string{"new/other": "", "new/f": "a person said no"} {
		var d *desk
		times := 0
		d = asked(t, func(q toolcrib.Question) toolcrib.Answer {
			if times++; times > 1 {
				return toolcrib.Answer{}
			}
			d.put(t, made, "theirs\n")
			return yes(q)
		})
		_, fault := d.call(t, "write_file", map[string]any{"path": "new/f", "content": "mine\n"})
		if (fault == "") != (want == "") || !strings.Contains(fault, want) {
			t.Errorf("with %s made meanwhile: %s", made, fault)
		}
	}
}

// TestApprovedWithOtherArguments: the person may name another file, which they
// were not shown.
func TestApprovedWithOtherArguments(t *testing.T) {
	d := asked(t, func(q toolcrib.Question) toolcrib.Answer {
		return toolcrib.Answer{Decision: toolcrib.Allow, Input: json.RawMessage(`{"path":"other","content":"x"}`)}
	})
	d.Guards = []toolcrib.Guard{cribtest.GuardFunc(func(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
		if strings.Contains(string(r.Call.Input), "other") {
			return &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "test"}, nil
		}
		return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "test"}, nil
	})}
	d.put(t, "f", "one\n")
	other := d.put(t, "other", "two\n")
	if _, fault := d.call(t, "write_file", map[string]any{"path": "f", "content": "x"}); fault != "" || content(t, other) != "x" {
		t.Errorf("%s; other holds %q", fault, content(t, other))
	}
}
