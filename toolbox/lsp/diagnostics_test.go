package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// says tells what is wrong with the file.
func (f *fake) says(r *rig, version int, messages ...string) {
	var list []string
	for _, m := range messages {
		list = append(list, `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"severity":1,"code":"E1","source":"fake","message":"`+m+`"}`)
	}
	of := ""
	if version > 0 {
		of = fmt.Sprintf(`"version":%d,`, version)
	}
	f.tell("textDocument/publishDiagnostics", `{"uri":"`+at(r, "a.x")+`",`+of+`"diagnostics":[`+strings.Join(list, ",")+`]}`)
}

func messages(out diagnosticsOut) string {
	var list []string
	for _, d := range out.Diagnostics {
		list = append(list, d.Message)
	}
	return strings.Join(list, ",")
}

// TestPublished: what a server says of an older text, or in pieces, is no answer.
func TestPublished(t *testing.T) {
	for _, versions := range []bool{true, false} {
		f := &fake{}
		r := scripted(t, f)
		v := func(n int) int {
			if versions {
				return n
			}
			return 0
		}
		opened, changed := 0, 0
		f.script(map[string]func(*fake, json.RawMessage) string{
			"textDocument/didOpen": func(f *fake, _ json.RawMessage) string {
				opened++
				go func() {
					f.says(r, v(1)) // the first piece
					f.says(r, v(1), "bad")
				}()
				return ""
			},
			"textDocument/didChange": func(f *fake, _ json.RawMessage) string {
				changed++
				go func() {
					if versions {
						f.says(r, 1, "late word on the old text")
					}
					time.Sleep(20 * time.Millisecond)
					f.says(r, v(2))
				}()
				return ""
			},
		})
		out := ask[diagnosticsOut](r, "lsp_diagnostics", args{"file": "a.x"})
		if messages(out) != "bad" || out.Incomplete || out.Diagnostics[0].EndColumn != 4 || out.Diagnostics[0].Code != "E1" {
			t.Errorf("versions %v: %+v", versions, out)
		}
		r.write("a.x", "good\n")
		if out := ask[diagnosticsOut](r, "lsp_diagnostics", args{"file": "a.x"}); messages(out) != "" || out.Incomplete {
			t.Errorf("versions %v: after its repair %+v", versions, out)
		}
		start := time.Now()
		if out := ask[diagnosticsOut](r, "lsp_diagnostics", args{"file": "a.x"}); messages(out) != "" || out.Incomplete || time.Since(start) > 2*time.Second {
			t.Errorf("versions %v: a second time %+v", versions, out)
		}
		if opened != 1 || changed != 1 {
			t.Errorf("it was opened %d times and changed %d times", opened, changed)
		}
	}
}

// TestNothingPublished: who says nothing in time has not said that all is well.
func TestNothingPublished(t *testing.T) {
	cfg := config()
	cfg.Patient = 50 * time.Millisecond
	r := newRig(t, cfg, (&fake{}).run)
	r.write("a.x", "x")
	if out := ask[diagnosticsOut](r, "lsp_diagnostics", args{"file": "a.x"}); !out.Incomplete {
		t.Errorf("%+v", out)
	}
}

// TestPulled: a server that can be asked is asked, also if it says so late.
func TestPulled(t *testing.T) {
	tries := 0
	pull := func(*fake, json.RawMessage) string {
		tries++
		return `{"kind":"full","items":[{"message":"pulled","code":12,"severity":2,"range":{"start":{"line":1,"character":12},"end":{"line":1,"character":16}}}]}`
	}
	for name, f := range map[string]*fake{
		"from the start": {caps: `"diagnosticProvider":{"interFileDependencies":true},` + allCaps},
		"later": {answer: map[string]func(*fake, json.RawMessage) string{"textDocument/didOpen": func(f *fake, _ json.RawMessage) string {
			conn := f.current
			go func() {
				for _, c := range []string{
					`client/registerCapability {"registrations":[{"id":"a","method":"textDocument/diagnostic"}]}`,
					`client/registerCapability {"registrations":[{"id":"b","method":"textDocument/diagnostic"}]}`,
					`client/unregisterCapability {"unregisterations":[{"id":"a","method":"textDocument/diagnostic"}]}`,
				} {
					method, params, _ := strings.Cut(c, " ")
					_, _ = conn.Call(t.Context(), method, json.RawMessage(params), nil)
				}
			}()
			return ""
		}}},
	} {
		if f.answer == nil {
			f.script(map[string]func(*fake, json.RawMessage) string{})
		}
		f.answer["textDocument/diagnostic"] = pull
		r := scripted(t, f)
		out := ask[diagnosticsOut](r, "lsp_diagnostics", args{})
		if d := out.Diagnostics; len(d) != 1 || d[0].Message != "pulled" || d[0].Severity != "warning" || d[0].Code != "12" || d[0].Line != 2 || d[0].Column != 11 || out.Incomplete || len(out.Checked) != 1 {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// TestReferencesWait: as long as a server reads the project, its answer would lack some.
func TestReferencesWait(t *testing.T) {
	ready := make(chan struct{})
	f := &fake{}
	r := scripted(t, f)
	f.script(map[string]func(*fake, json.RawMessage) string{
		"textDocument/didOpen": func(f *fake, _ json.RawMessage) string {
			f.tell("$/progress", `{"token":"index","value":{"kind":"begin"}}`)
			f.tell("experimental/serverStatus", `{"quiescent":false}`)
			f.tell("textDocument/publishDiagnostics", `{"uri":"`+at(r, "a.x")+`","diagnostics":[]}`)
			return ""
		},
		"textDocument/hover": func(f *fake, _ json.RawMessage) string {
			close(ready)
			f.tell("$/progress", `{"token":"index","value":{"kind":"end"}}`)
			f.tell("experimental/serverStatus", `{"quiescent":true}`)
			return "null"
		},
		"textDocument/references": func(*fake, json.RawMessage) string {
			select {
			case <-ready:
			default:
				t.Error("it was asked too early")
			}
			return "null"
		},
	})
	ask[diagnosticsOut](r, "lsp_diagnostics", args{"file": "a.x"}) // the work has begun by now
	asked := make(chan referencesOut)
	go func() {
		asked <- ask[referencesOut](r, "lsp_find_references", args{"file": "a.x", "line": 1, "column": 1})
	}()
	ask[hoverOut](r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1})
	if out := <-asked; out.Incomplete {
		t.Error("it is said to be incomplete")
	}
}

// TestReadyIsWaitedFor: a server that tells its log when it knows the project is not asked about the whole of it before.
func TestReadyIsWaitedFor(t *testing.T) {
	ready := make(chan struct{})
	f := &fake{}
	cfg := config()
	cfg.Servers[0].Ready, cfg.Patient = []string{" source file"}, time.Minute
	r := newRig(t, cfg, f.run)
	r.write("a.x", "one two\n")
	f.script(map[string]func(*fake, json.RawMessage) string{
		"textDocument/hover": func(f *fake, _ json.RawMessage) string {
			f.tell("window/logMessage", `{"type":3,"message":"Searching for files"}`)
			close(ready)
			f.tell("window/logMessage", `{"type":3,"message":"Found 2 source files"}`)
			return "null"
		},
		"textDocument/references": func(*fake, json.RawMessage) string {
			select {
			case <-ready:
			default:
				t.Error("it was asked too early")
			}
			return "null"
		},
	})
	asked := make(chan referencesOut)
	go func() {
		asked <- ask[referencesOut](r, "lsp_find_references", args{"file": "a.x", "line": 1, "column": 1})
	}()
	ask[hoverOut](r, "lsp_hover", args{"file": "a.x", "line": 1, "column": 1})
	if out := <-asked; out.Incomplete {
		t.Error("it is said to be incomplete")
	}
}
