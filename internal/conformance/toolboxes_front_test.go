package conformance

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestGenuineToolboxes: every toolbox that PyPI has, and those of the framework's own
// lessons, answer through Toolcrib as they answer by themselves, whichever way in.
func TestGenuineToolboxes(t *testing.T) {
	f := genuine(t)
	for _, g := range []struct {
		name string
		base environment
	}{{"base", f.base}, {"next", f.next}} {
		t.Run(g.name, func(t *testing.T) {
			env := f.with(t, g.base, "math", "files", "odd")
			b := readBattery(t, env)
			want := b.alone(t, env)(b.calls, 0)
			vars := b.home(t, map[string]environment{"field": env}, "")
			t.Run("mcp", func(t *testing.T) { b.overMCP(t, vars, want) })
			if g.name == "next" {
				return // the ways in are the same
			}
			t.Run("http", func(t *testing.T) { b.overHTTP(t, vars, want) })
			t.Run("cli", func(t *testing.T) { b.overCLI(t, vars, want) })
			t.Run("bus", func(t *testing.T) { b.overBus(t, vars, want) })
		})
	}
}

// session connects a client of the official SDK to a toolcrib of this home, and
// gives the number of its process.
func session(t testing.TB, file string, vars []string) (*mcp.ClientSession, int) {
	t.Helper()
	log := &logged{}
	cmd := exec.Command(file, "mcp")
	cmd.Dir, cmd.Env, cmd.Stderr = t.TempDir(), vars, log
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	t.Cleanup(func() {
		below := descendants(cmd.Process.Pid)
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		if left := gone(below, 10*time.Second); len(left) > 0 {
			t.Errorf("processes were left behind: %s", strings.Join(left, ", "))
		}
		if t.Failed() {
			t.Logf("toolcrib wrote:\n%s", log)
		}
	})
	return s, cmd.Process.Pid
}

// shownAs finds what tools of the field are called over MCP: their own names, or
// with their box before it where a tool of ours is called so.
type shownAs map[string]string // box/tool of the field → name

func listTools(ctx context.Context, t testing.TB, s *mcp.ClientSession) shownAs {
	t.Helper()
	names := shownAs{}
	for tool, err := range s.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		names[tool.Name] = tool.Name
	}
	return names
}

// toolboxID is the id of the toolbox of an entry point.
func toolboxID(entry string) string {
	if entry == "ovos-file-toolbox" {
		return "ovos_file_tools"
	}
	return entry
}

func (n shownAs) of(t testing.TB, c batteryCall) string {
	t.Helper()
	id := toolboxID(c.entry)
	for _, name := range []string{id + "__" + c.tool, "opm-" + id + "__" + c.tool, c.tool} {
		if _, is := n[name]; is {
			return name
		}
	}
	t.Fatalf("%v is not listed among %d tools", c, len(n))
	return ""
}

// callMCP calls a tool and gives what the toolbox said.
func callMCP(t testing.TB, s *mcp.ClientSession, name string, args json.RawMessage) reply {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return reply{Error: "no answer: " + err.Error()}
	}
	if !r.IsError {
		return reply{Result: r.StructuredContent}
	}
	var said []string
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			said = append(said, text.Text)
		}
	}
	return reply{Error: toolboxWords(said)}
}

// toolboxWords leaves out what Toolcrib says besides: where a text comes from, and
// what of the arguments does not fit.
func toolboxWords(said []string) string {
	for _, text := range said {
		class, _, ok := strings.Cut(text, ": ")
		if ok && (strings.HasSuffix(class, "Error") || strings.HasSuffix(class, "Exception")) {
			return text
		}
	}
	return strings.Join(said, "\n")
}

func (b battery) overMCP(t *testing.T, vars []string, want directly) {
	b.clean(t)
	s, _ := session(t, toolcribPath(t), vars)
	names := listTools(t.Context(), t, s)
	for i, c := range b.calls {
		compare(t, c, callMCP(t, s, names.of(t, c), c.args), want.Answers[i])
	}
	// Those that need a service or a package beside them are there as well.
	for _, tool := range []string{"duckduckgo_infobox", "word_relations"} {
		if _, is := names[tool]; !is {
			t.Errorf("%s is not listed", tool)
		}
	}
	if r := callMCP(t, s, names.of(t, batteryCall{entry: "odd-tools", tool: "on_bus"}), json.RawMessage(`{}`)); toText(t, r.Result) != `{"value":42}` {
		t.Errorf("a toolbox on its own bus: %+v", r)
	}
	// The skill of an entry point is a skill here. It is read last: after it, what
	// can leave the machine needs a person.
	if r := callMCP(t, s, "list_skills", json.RawMessage(`{}`)); r.Error != "" || !strings.Contains(toText(t, r.Result), "odd-skill") {
		t.Errorf("the skills: %+v", r)
	}
}

func toText(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (b battery) overHTTP(t *testing.T, vars []string, want directly) {
	b.clean(t)
	cmd := exec.Command(toolcribPath(t), "serve", "--listen", "127.0.0.1:0", "--set", "serve.open=true")
	cmd.Dir, cmd.Env = t.TempDir(), vars
	p := launch(t, cmd)
	base := p.await(t, `MCP at (http://[^/]+)/mcp`)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // the server ends anyway
	names := listTools(t.Context(), t, s)
	for i, c := range b.calls {
		compare(t, c, callMCP(t, s, names.of(t, c), c.args), want.Answers[i])
	}
}

// overCLI makes a few of the calls: each is a process of its own, and starts another.
func (b battery) overCLI(t *testing.T, vars []string, want directly) {
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), toolcribPath(t), args...)
		cmd.Dir, cmd.Env = b.dir, vars
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("call", "add", "a=1", "b=1"); err != nil { // what there is is known from here on
		t.Fatalf("%v: %s", err, out)
	}
	list, err := run("tools", "-o", "json")
	if err != nil {
		t.Fatalf("%v: %s", err, list)
	}
	var tools []struct {
		Name   string          `json:"name"`
		Box    string          `json:"box"`
		Native string          `json:"native"`
		Input  json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal([]byte(list), &tools); err != nil {
		t.Fatalf("%v: %.500s", err, list)
	}
	names := shownAs{}
	for _, tool := range tools {
		names[tool.Name] = tool.Name
	}
	called := map[string]int{}
	for i, c := range b.calls {
		kind := c.entry
		if want.Answers[i].Error != "" {
			kind += " failing"
		}
		if called[kind]++; called[kind] > 1 || len(called) > 8 || c.tool == "get_current_datetime" || strings.Contains(string(c.args), filepath.Base(b.dir)) {
			continue
		}
		out, err := run("call", names.of(t, c), "--json", string(c.args))
		switch w := want.Answers[i]; {
		case w.Error != "" && (err == nil || !strings.Contains(out, w.Error)):
			t.Errorf("%v: %v\n%s\nwant %s", c, err, out, w.Error)
		case w.Error == "" && err != nil:
			t.Errorf("%v: %v\n%s", c, err, out)
		case w.Error == "":
			var got any
			if err := json.Unmarshal([]byte(out[strings.IndexByte(out, '{'):]), &got); err != nil {
				t.Errorf("%v: %v\n%s", c, err, out)
				continue
			}
			compare(t, c, reply{Result: got}, w)
		}
	}
	shown, err := run("tools", "show", names.of(t, b.calls[0]))
	if err != nil || !strings.Contains(shown, "First operand") {
		t.Errorf("tools show: %v\n%s", err, shown)
	}
}
