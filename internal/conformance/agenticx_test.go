package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionCalls are calls of AgenticX' session tools. Where we differ on purpose, other
// says what we answer instead, as a pattern.
var sessionCalls = []struct{ tool, input, other string }{
	{"todo_write", `{"items":[]}`, ""},
	{"todo_write", `{"items":[{"content":"a","status":"completed"},{"content":" b ","status":"In_Progress ","activeForm":"doing b"},{"content":"c","status":"pending"}]}`, ""},
	{"todo_write", `{"items":[{"content":"a","status":"in_progress"}]}`, ""},
	{"todo_write", `{"items":[{"content":"a","status":"in_progress","active_form":"one","activeForm":"two"}]}`, ""},
	{"todo_write", `{"items":[{"content":"a","status":"in_progress","active_form":" ","activeForm":"two"}]}`, ""},
	{"todo_write", `{"items":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`, ""},
	{"todo_write", `{"items":[{"content":"a","status":"pending"},{"content":"a ","status":"pending"}]}`, ""},
	{"todo_write", `{"items":[{"content":"  ","status":"pending"}]}`, ""},
	{"todo_write", `{"items":[{"content":"a","status":"done"}]}`, ""},
	{"todo_write", `{"items":[` + strings.TrimSuffix(strings.Repeat(`{"content":"x","status":"pending"},`, 21), ",") + `]}`, ""},
	{"todo_write", `{"items":[{"content":"é\n2","status":"completed","id":7}]}`, ""},
	{"scratchpad_read", `{}`, ""},
	{"scratchpad_read", `{"key":"gone"}`, ""},
	{"scratchpad_write", `{"key":" plan ","value":"one\ntwo"}`, ""},
	{"scratchpad_write", `{"key":"","value":"x"}`, ""},
	{"scratchpad_write", `{"key":"empty","value":""}`, ""},
	{"scratchpad_read", `{"key":"plan"}`, ""},
	{"scratchpad_read", `{"key":"empty"}`, ""},
	{"scratchpad_read", `{"key":"plan","list_only":true}`, ""},
	{"scratchpad_read", `{"key":" "}`, ""},
	{"scratchpad_write", `{"key":"long","value":"` + strings.Repeat("x", 10_001) + `"}`, `^ERROR: the value has 10001 characters, .* nothing was written`},
	{"memory_append", `{"target":"daily","content":"Fixed the build."}`, ""},
	{"memory_append", `{"target":"long_term","content":"The person likes tea."}`, ""},
	{"memory_append", `{"target":"Long_Term","content":" For all. ","scope":"user_global"}`, ""},
	{"memory_append", `{"target":"weekly","content":"x"}`, ""},
	{"memory_append", `{"target":"daily","content":" "}`, ""},
	{"memory_append", `{"target":"daily","content":"x","scope":"world"}`, ""},
	{"memory_append", `{"target":"daily","content":"x","scope":"user_global"}`, ""},
	// AgenticX says OK and writes nothing.
	{"memory_append", `{"target":"long_term","content":"` + strings.Repeat("long ", 1000) + `"}`, `^ERROR: the note has 4999 characters, .* nothing was written`},
	{"memory_search", `{"query":" "}`, ""},
	// AgenticX shows parts of its files, templates too; we show the note.
	{"memory_search", `{"query":"tea"}`, `^1\. score=[0-9.]+ path=[^ ]+/coder/MEMORY\.md:\d+-\d+ text=The person likes tea\.$`},
	{"memory_search", `{"query":"zzzz","mode":"fts","limit":3}`, `^No memory matches\.$`},
	{"skill_use", `{"name":" "}`, ""},
	{"skill_use", `{"name":"none"}`, `^ERROR: skill activation failed\. Skill 'none' was not found in the skill index\. `},
	{"skill_use", `{"name":"letters"}`, `(?s)^OK: activated skill 'letters'\. source=user, location=global, base_dir=[^\n]*letters\n\nWrite it by hand\.$`},
	{"skill_list", `{}`, `^- letters: How to write letters\. \[source=user, location=global, base_dir=\]$`},
}

// TestGenuineAgenticXSession: the session tools answer in the dialect as AgenticX' own
// functions do, but where they lose something.
func TestGenuineAgenticXSession(t *testing.T) {
	python := genuine(t).base.python
	person := t.TempDir()
	skill := filepath.Join(person, ".agents", "skills", "letters")
	if err := os.MkdirAll(skill, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: letters\ndescription: How to write letters.\n---\nWrite it by hand.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var calls [][2]json.RawMessage
	for _, c := range sessionCalls {
		calls = append(calls, [2]json.RawMessage{json.RawMessage(`"` + c.tool + `"`), json.RawMessage(c.input)})
	}
	want := agenticxSession(t, python, person, calls)
	_, vars := home(t, "mode: auto-edit\nagents:\n  coder: {instructions: You write.}\n")
	vars = append(vars, "HOME="+person, "USERPROFILE="+person)
	cmd := exec.Command(toolcribPath(t), "mcp", "--dialect", "agenticx", "--agent", "coder")
	cmd.Dir, cmd.Env = t.TempDir(), vars
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	listed, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, parameters := range want.Parameters {
		i := slices.IndexFunc(listed.Tools, func(x *mcp.Tool) bool { return x.Name == name })
		if i < 0 {
			t.Errorf("there is no %s", name)
			continue
		}
		if got := shapeOf(t, listed.Tools[i].InputSchema); got != shapeOf(t, parameters) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, shapeOf(t, parameters))
		}
	}
	for i, c := range sessionCalls {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.input)})
		if err != nil {
			t.Errorf("%s %.80s: %v", c.tool, c.input, err)
			continue
		}
		var texts []string
		for _, part := range r.Content {
			if text, ok := part.(*mcp.TextContent); ok && !strings.HasPrefix(text.Text, "[untrusted: skill/") {
				texts = append(texts, text.Text)
			}
		}
		got := strings.Join(texts, "\n")
		if c.other != "" {
			if !regexp.MustCompile(c.other).MatchString(got) {
				t.Errorf("%s %.80s:\n got %s\nwant %s", c.tool, c.input, got, c.other)
			}
			continue
		}
		if got != want.Answers[i] || r.IsError != strings.HasPrefix(got, "ERROR: ") {
			t.Errorf("%s %.80s:\n got %q\nwant %q", c.tool, c.input, got, want.Answers[i])
		}
	}
}

type sessionAnswers struct {
	Answers    []string
	Parameters map[string]any
}

// agenticxSession has AgenticX' own functions answer.
func agenticxSession(t *testing.T, python, home string, calls any) (out sessionAnswers) {
	t.Helper()
	in, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, filepath.Join("testdata", "python", "agenticx_session.py"))
	cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home)
	var log bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &log
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatalf("agenticx_session.py: %v\n%s", err, log.String())
	}
	return out
}

// shapeOf is what a schema says of names and types.
func shapeOf(t *testing.T, schema any) string {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties map[string]struct {
			Type  string
			Items struct {
				Properties map[string]struct{ Type string }
			}
		}
		Required []string
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	slices.Sort(s.Required)
	if len(s.Required) == 0 {
		s.Required = nil
	}
	if text, err = json.Marshal(s); err != nil {
		t.Fatal(err)
	}
	return string(text)
}
