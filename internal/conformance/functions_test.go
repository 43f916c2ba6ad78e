package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/pyhost"
)

// libraryCalls are calls of the tools in testdata/python, by file. What a
// library answers itself is what the host must answer.
var libraryCalls = map[string]struct {
	names string
	calls string
}{
	"agenticx_tools.py": {"calculator nap later late shout search Broken repeat", `[
		["calculator", {"a": 1}], ["calculator", {"a": "5", "b": 2}], ["calculator", {"a": "x"}], ["calculator", {}], ["calculator", {"a": 1, "c": 3}],
		["nap", {"seconds": 0.01}], ["later", {"seconds": 0.01}], ["late", {}], ["shout", {"text": "é"}], ["shout", {"text": 5}],
		["search", {"text": "ab", "limit": 2}], ["search", {"text": "a"}], ["Broken", {}], ["Broken", {"any": 1}], ["repeat", {"times": 2}]]`},
	"langchain_tools.py": {"multiply made as_object later handled unhandled with_id from_json upper", `[
		["multiply", {"a": 2, "b": 3}], ["multiply", {"a": "2", "b": 3}], ["multiply", {"a": "q"}], ["made", {"n": 2}], ["as_object", {"n": 1}],
		["later", {"n": 1}], ["handled", {"text": "x"}], ["unhandled", {"text": "x"}], ["with_id", {"x": 1}], ["upper", {"text": "abc"}], ["from_json", {"z": 1}]]`},
	"fastmcp_tools.py": {"add steps right fail sleep loose", `[
		["add", {"a": 1, "b": 2}], ["add", {"a": "1", "b": 2}], ["add", {"a": "z"}], ["add", {"a": 1, "b": 2, "c": 3}], ["steps", {"n": 2}],
		["right", {"p": {"x": 1}}], ["right", {"p": {}}], ["fail", {}], ["sleep", {"seconds": 0.01}], ["loose", {"a": 4}]]`},
	"mcp_tools.py": {"miles count fail", `[["miles", {"km": 5}], ["miles", {"km": "x"}], ["count", {"to": 2}], ["fail", {}]]`},
}

// The tools of AgenticX, LangChain, FastMCP and the mcp package answer through the host as they do by themselves.
func TestGenuinePythonLibraries(t *testing.T) {
	python := genuine(t).base.python
	host := filepath.Join(t.TempDir(), "host.py")
	if err := os.WriteFile(host, []byte(pyhost.Source()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range libraryCalls {
		t.Run(strings.TrimSuffix(name, ".py"), func(t *testing.T) {
			file, err := filepath.Abs(filepath.Join("testdata", "python", name))
			if err != nil {
				t.Fatal(err)
			}
			var calls [][2]json.RawMessage
			if err := json.Unmarshal([]byte(c.calls), &calls); err != nil {
				t.Fatal(err)
			}
			want := byLibrary(t, python, file, calls)
			h := startHost(t, python, host, "--file", file)
			if got := h.names(t); got != c.names {
				t.Errorf("tools:\n got %s\nwant %s", got, c.names)
			}
			for i, call := range calls {
				if got := h.call(t, call[0], call[1]); got != want[i] {
					t.Errorf("%s %s:\n got %+v\nwant %+v", call[0], call[1], got, want[i])
				}
			}
		})
	}
}

// Plain functions with types of pydantic, with the genuine pydantic.
func TestGenuinePythonPydantic(t *testing.T) {
	python := genuine(t).base.python
	host := filepath.Join(t.TempDir(), "host.py")
	if err := os.WriteFile(host, []byte(pyhost.Source()), 0o600); err != nil {
		t.Fatal(err)
	}
	h := startHost(t, python, host, "--file", filepath.Join("testdata", "python", "pydantic_tools.py"))
	if got := h.names(t); got != "total echo many pet field_default spot old failing" {
		t.Errorf("tools: %s", got)
	}
	for _, c := range []struct {
		name, arguments, want string
		bad                   bool
	}{
		{"total", `{"order":{"items":[{"name":"a"},{"name":"b","count":4}],"day":"2030-01-01"}}`, "5", false},
		{"total", `{"order":{"items":[{"name":" ","count":"x"}]}}`, "total was not called: order.items[0].name: Value error, a name has letters; order.items[0].count: Input should be a valid integer, unable to parse string as an integer.", true},
		{"echo", `{"item":{"name":"a","parts":[{"name":"b"}]}}`, `{"name":"a","count":1,"parts":[{"name":"b","count":1,"parts":[]}]}`, false},
		{"many", `{"items":[{"name":"a"}],"limit":20}`, "many was not called: limit: Input should be less than or equal to 10.", true},
		{"many", `{"items":[{"name":"a"}]}`, `[{"name":"a","count":1,"parts":[]}]`, false},
		{"pet", `{"which":{"kind":"dog"}}`, "Dog", false},
		{"pet", `{"which":{"kind":"cow"}}`, "pet was not called: which: Input tag 'cow' found using 'kind' does not match any of the expected tags: 'cat', 'dog'.", true},
		{"field_default", `{}`, "5", false},
		{"field_default", `{"x":1}`, "field_default was not called: x: Input should be greater than 2.", true},
		{"spot", `{"s":{"x":1}}`, "[1,0]", false},
		{"old", `{"o":{"x":"5"}}`, "5", false},
		{"old", `{"o":{"x":"v"}}`, "old was not called: o.x value is not a valid integer.", true},
		{"failing", `{"name":""}`, "ValidationError: name: String should have at least 1 character; count: Input should be greater than 0", true},
	} {
		name, _ := json.Marshal(c.name)
		if got := h.call(t, name, json.RawMessage(c.arguments)); got.Text != c.want || got.Error != c.bad {
			t.Errorf("%s %s:\n got %+v\nwant %s", c.name, c.arguments, got, c.want)
		}
	}
}

// spoken is an answer, as the model reads it.
type spoken struct {
	Text  string `json:"text"`
	Error bool   `json:"error"`
}

func byLibrary(t *testing.T, python, file string, calls any) []spoken {
	t.Helper()
	in, err := json.Marshal(map[string]any{"file": file, "calls": calls})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, filepath.Join("testdata", "python", "direct.py"))
	var log bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &log
	out, err := cmd.Output()
	var answers []spoken
	if err == nil {
		err = json.Unmarshal(out, &answers)
	}
	if err != nil {
		t.Fatalf("direct.py: %v\n%s", err, log.String())
	}
	return answers
}

// pythonHost is a host that runs, spoken to without Toolcrib.
type pythonHost struct {
	in  io.Writer
	out *bufio.Reader
	ids int
}

func startHost(t *testing.T, python, host string, arguments ...string) *pythonHost {
	t.Helper()
	cmd := exec.Command(python, append([]string{host, "serve"}, arguments...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		_ = in.Close()
		err := cmd.Wait()
		late.Stop()
		if err != nil || t.Failed() {
			t.Errorf("the host ended: %v\n%s", err, log.String())
		}
	})
	return &pythonHost{in: in, out: bufio.NewReader(out)}
}

func (h *pythonHost) ask(t *testing.T, method string, params any, result any) {
	t.Helper()
	h.ids++
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": h.ids, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(h.in, "%s\n", data); err != nil {
		t.Fatal(err)
	}
	line, err := h.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	var answer struct {
		ID     int             `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(line, &answer); err != nil || answer.ID != h.ids || answer.Result == nil {
		t.Fatalf("%s: %v: %s", method, err, line)
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		t.Fatal(err)
	}
}

func (h *pythonHost) names(t *testing.T) string {
	t.Helper()
	var listed struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	h.ask(t, "tools/list", struct{}{}, &listed)
	var names []string
	for _, one := range listed.Tools {
		names = append(names, one.Name)
	}
	return strings.Join(names, " ")
}

func (h *pythonHost) call(t *testing.T, name, arguments json.RawMessage) spoken {
	t.Helper()
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	h.ask(t, "tools/call", map[string]any{"name": name, "arguments": arguments}, &result)
	if len(result.Content) != 1 {
		t.Fatalf("%s: %d pieces of content", name, len(result.Content))
	}
	return spoken{result.Content[0].Text, result.IsError}
}
