package clienthook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/toolbox/files"
	"github.com/toolcrib/toolcrib/toolbox/shell"
	"github.com/toolcrib/toolcrib/toolbox/web"
)

const transcript = `{"type":"session_meta","payload":{"cwd":"/p"}}
{"type":"response_item","payload":{"type":"function_call","call_id":"u","arguments":"{\"cmd\":\"ls\"}"}}
{"type":"response_item","payload":{"type":"function_call","call_id":"evil","arguments":"{\"cmd\":\"ls\",\"shell\":\"/p/evil\"}"}}
{"type":"response_item","payload":{"type":"function_call","call_id":"fish","arguments":"{\"cmd\":\"ls\",\"shell\":\"fish\"}"}}
`

// near is a machine with a home, a link and a transcript.
func near() Surroundings {
	return Surroundings{
		Home:   "/home/x",
		Getenv: func(name string) string { return map[string]string{"CLAUDE_PROJECT_DIR": "/p"}[name] },
		Link:   func(path string) bool { return path == "/p/link" },
		Own:    func(program string) bool { return program == "/usr/bin/toolcrib" },
		Served: func(_, tool string) bool { return tool == "read_file" || tool == "hub__list" },
		Part: func(path string, _ bool, _ int) []byte {
			if path != "/t" {
				return nil
			}
			return []byte(transcript)
		},
	}
}

// said is a message of a client before a tool.
func said(client, tool, input string, more ...string) []byte {
	event := "PreToolUse"
	if client == Gemini {
		event = "BeforeTool"
	}
	return fmt.Appendf(nil, `{"hook_event_name":%q,"session_id":"s","cwd":"/p","transcript_path":"/t","tool_use_id":"u","permission_mode":"default","tool_name":%q,"tool_input":%s%s}`,
		event, tool, input, strings.Join(more, ""))
}

func shown(e *Event) string {
	var out []string
	for _, d := range e.Deeds {
		out = append(out, fmt.Sprintf("%s/%s %s (%s)", d.Box, d.Tool, d.Input, d.Effects))
	}
	return strings.Join(out, "; ")
}

const run, write, look = "(reads,writes,destroys,runs,network)", "(reads,writes)", "(reads)"

func TestTools(t *testing.T) {
	for _, c := range []struct{ client, tool, input, want string }{
		{Claude, "Bash", `{"command":"git push","run_in_background":true}`, `shell/run_command {"command":"git push","working_dir":"/p"} ` + run},
		{Claude, "Write", `{"file_path":"a/b","content":""}`, `files/write_file {"content":"","path":"/p/a/b"} ` + write},
		{Claude, "Edit", `{"file_path":"/p/a","old_string":"x","new_string":"y"}`, `files/edit_file {"new_text":"y","old_text":"x","path":"/p/a"} ` + write},
		{Claude, "MultiEdit", `{"file_path":"/p/a","edits":[]}`, `files/edit_file {"path":"/p/a"} ` + write},
		{Claude, "NotebookEdit", `{"notebook_path":"n.ipynb","new_source":"1"}`, `files/edit_file {"new_text":"1","path":"/p/n.ipynb"} ` + write},
		{Claude, "Read", `{"file_path":"~/.ssh/id"}`, `files/read_file {"path":"/home/x/.ssh/id"} ` + look},
		{Claude, "Glob", `{"pattern":"../../etc/*"}`, `files/find_files {"glob":"../../etc/*","path":"/etc"} ` + look},
		{Claude, "Glob", `{"pattern":"/etc/**/x","path":"src"}`, `files/find_files {"glob":"/etc/**/x","path":"/etc"} ` + look},
		{Claude, "Grep", `{"pattern":"x","path":"../q","glob":"*.go"}`, `files/search_files {"file_pattern":"*.go","path":"/q","pattern":"x"} ` + look},
		{Claude, "WebFetch", `{"url":"https://a.example/x","prompt":"y"}`, `web/web_fetch {"url":"https://a.example/x"} (reads,network)`},
		{Claude, "TodoWrite", `{"todos":[]}`, `claude-code/TodoWrite {"todos":[]} (pure)`},
		{Claude, "bash", `{"command":"x"}`, `claude-code/bash {"command":"x"} (undeclared)`},
		{Claude, "Ｂash", `{"command":"x"}`, `claude-code/other {"input":{"command":"x"},"tool":"Ｂash"} (undeclared)`},
		{Claude, "CronCreate", `[1]`, `claude-code/CronCreate {"input":[1]} (undeclared)`},
		{Claude, "mcp__github__create_issue", `{"a":1}`, `github/create_issue {"a":1} (undeclared)`},
		{Claude, "mcp__a__b__c", `{}`, `a/b__c {} (undeclared); a__b/c {} (undeclared)`},
		{Claude, "mcp__x", `{}`, `claude-code/mcp__x {} (undeclared)`},
		{Claude, "MCP__toolcrib__read_file", `{}`, `claude-code/MCP__toolcrib__read_file {} (undeclared)`},
		{Codex, "Bash", `{"command":"ls"}`, `shell/run_command {"command":"ls","working_dir":"/p"} ` + run},
		{Codex, "Bash", `{"command":"ls -a"}`, `shell/run_command {"command":"ls -a","working_dir":"/p"} ` + run + `; codex/elsewhere {"command":"ls -a"} (undeclared)`},
		{Codex, "apply_patch", `{"command":"*** Begin Patch\n*** Add File: a\n+*** Delete File: no\n*** Update File: b\n*** Move to: ../c\n@@\n *** Delete File: d\n*** End Patch"}`,
			`files/write_file {"path":"/p/a"} ` + write + `; files/edit_file {"path":"/p/b"} ` + write + `; files/write_file {"path":"/c"} ` + write + `; files/delete_file {"path":"/p/b"} (reads,writes,destroys); files/delete_file {"path":"/p/d"} (reads,writes,destroys)`},
		{Gemini, "run_shell_command", `{"command":"ls","dir_path":"../q"}`, `shell/run_command {"command":"ls","working_dir":"/q"} ` + run},
		{Gemini, "replace", `{"file_path":"a","old_string":"x","new_string":""}`, `files/edit_file {"old_text":"x","path":"/p/a"} ` + write},
		{Gemini, "read_many_files", `{"include":["a.txt","/etc/*.conf"]}`, `files/read_file {"path":"/p/a.txt"} ` + look + `; files/search_files {"file_pattern":"/etc/*.conf","path":"/etc"} ` + look},
		{Gemini, "web_fetch", `{"prompt":"see https://a.example/x and HTTP://b.example."}`, `web/web_fetch {"url":"https://a.example/x"} (reads,network); web/web_fetch {"url":"HTTP://b.example"} (reads,network)`},
		{Gemini, "Bash", `{"command":"ls"}`, `gemini/Bash {"command":"ls"} (undeclared)`},
	} {
		e, err := Parse(c.client, said(c.client, c.tool, c.input), near())
		if err != nil || shown(e) != c.want || e.Project != "/p" {
			t.Errorf("%s %s %s:\n got %s, %v\nwant %s", c.client, c.tool, c.input, shown(e), err, c.want)
		}
	}
}

// TestRefused: what can be read in two ways, or not at all, is no call.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		client string
		raw    []byte
	}{
		"nothing":              {Claude, nil},
		"no JSON":              {Claude, []byte("ls")},
		"a list":               {Claude, []byte("[]")},
		"two messages":         {Claude, append(said(Claude, "Bash", `{"command":"ls"}`), said(Claude, "Bash", `{"command":"ls"}`)...)},
		"a name twice":         {Claude, said(Claude, "Bash", `{"command":"ls"}`, `,"tool_name":"Read"`)},
		"a name twice inside":  {Claude, said(Claude, "Bash", `{"command":"ls","command":"rm x"}`)},
		"another case":         {Claude, said(Claude, "Bash", `{"Command":"ls"}`)},
		"no command":           {Claude, said(Claude, "Bash", `{}`)},
		"a command in parts":   {Claude, said(Claude, "Bash", `{"command":["ls"]}`)},
		"input is a text":      {Claude, said(Claude, "Write", `"x"`)},
		"no path":              {Claude, said(Claude, "Write", `{"content":"x"}`)},
		"a zero byte":          {Claude, said(Claude, "Read", `{"file_path":"a\u0000b"}`)},
		"the home of another":  {Claude, said(Claude, "Read", `{"file_path":"~root/x"}`)},
		"a link and back":      {Claude, said(Claude, "Read", `{"file_path":"link/../x"}`)},
		"a pattern out":        {Claude, said(Claude, "Glob", `{"pattern":"*/../../x"}`)},
		"no cwd":               {Claude, []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`)},
		"a relative cwd":       {Claude, []byte(`{"hook_event_name":"PreToolUse","cwd":"p","tool_name":"Bash","tool_input":{"command":"ls"}}`)},
		"an unknown event":     {Claude, []byte(`{"hook_event_name":"Stop","cwd":"/p","tool_name":"Bash"}`)},
		"an unknown client":    {"vi", said(Claude, "Bash", `{"command":"ls"}`)},
		"a shell of its own":   {Codex, []byte(strings.Replace(string(said(Codex, "Bash", `{"command":"ls"}`)), `"tool_use_id":"u"`, `"tool_use_id":"evil"`, 1))},
		"another shell":        {Codex, []byte(strings.Replace(string(said(Codex, "Bash", `{"command":"ls"}`)), `"tool_use_id":"u"`, `"tool_use_id":"fish"`, 1))},
		"an empty patch":       {Codex, said(Codex, "apply_patch", `{"command":"*** Begin Patch"}`)},
		"another machine":      {Codex, said(Codex, "apply_patch", `{"command":"*** Environment ID: x\n*** Add File: a"}`)},
		"too many files":       {Codex, said(Codex, "apply_patch", `{"command":"`+strings.Repeat(`*** Add File: a\n`, 65)+`"}`)},
		"addresses not found":  {Gemini, said(Gemini, "web_fetch", `{"prompt":"a.example"}`)},
		"no files":             {Gemini, said(Gemini, "read_many_files", `{"include":[]}`)},
		"a server of no shape": {Gemini, said(Gemini, "mcp_x_y", `{}`, `,"mcp_context":7`)},
	} {
		if e, err := Parse(c.client, c.raw, near()); err == nil {
			t.Errorf("%s: %s", name, shown(e))
		}
	}
	where := near()
	where.Getenv = nil
	if _, err := Parse(Claude, said(Claude, "Read", `{"file_path":"a"}`), where); err == nil {
		t.Error("the model can choose what is granted")
	}
}

// TestStarted: the directory that comes with a call does not say what is granted.
func TestStarted(t *testing.T) {
	elsewhere := strings.Replace(string(said(Codex, "Bash", `{"command":"ls"}`)), `"cwd":"/p"`, `"cwd":"/etc"`, 1)
	e, err := Parse(Codex, []byte(elsewhere), near())
	if err != nil || e.Project != "/p" || !strings.Contains(shown(e), `"working_dir":"/etc"`) {
		t.Errorf("%+v, %v", e, err)
	}
	e, err = Parse(Codex, []byte(strings.Replace(elsewhere, `"/t"`, `null`, 1)), near())
	if err != nil || !strings.HasSuffix(shown(e), `codex/elsewhere {"dir":"/etc"} (undeclared)`) {
		t.Errorf("%s, %v", shown(e), err)
	}
}

// TestOwnServer: a server that only has our name is another's.
func TestOwnServer(t *testing.T) {
	for more, own := range map[string]bool{
		`,"mcp_context":{"server_name":"toolcrib","tool_name":"read_file","command":"/usr/bin/toolcrib"}`: true,
		`,"mcp_context":{"server_name":"toolcrib","tool_name":"read_file","command":"/p/toolcrib"}`:       false,
		`,"mcp_context":{"server_name":"toolcrib","tool_name":"read_file","url":"http://a.example"}`:      false,
		`,"mcp_context":{"server_name":"other","tool_name":"read_file","command":"/usr/bin/toolcrib"}`:    false,
		`,"mcp_context":{"server_name":"toolcrib","tool_name":"evil__run","command":"/usr/bin/toolcrib"}`: false,
	} {
		if e, err := Parse(Gemini, said(Gemini, "mcp_toolcrib_read_file", `{}`, more), near()); err != nil || e.Own != own || own != (len(e.Deeds) == 0) {
			t.Errorf("%s: %+v, %v", more, e, err)
		}
	}
	for tool, deeds := range map[string]int{
		"mcp__toolcrib__read_file":    0,
		"mcp__toolcrib__hub__list":    0,
		"mcp__toolcrib__evil__run":    2,
		"mcp__toolcrib__Read_file":    1,
		"mcp__toolcrib__read_file__x": 2,
		"mcp__toolcrib___read_file":   2,
		"mcp__toolcrib__":             1,
		"mcp__toolcrib":               1,

		"mcp__toolcrib_evil__read_file": 1,
	} {
		for _, client := range []string{Claude, Codex} {
			for _, event := range []string{"PreToolUse", "PostToolUse"} {
				raw := strings.Replace(string(said(client, tool, `{}`)), "PreToolUse", event, 1)
				e, err := Parse(client, []byte(raw), near())
				if err != nil || e.Own != (deeds == 0) && (client == Claude || !e.After) || !e.After && len(e.Deeds) != deeds {
					t.Errorf("%s %s %s: %+v, %v", client, event, tool, e, err)
				}
			}
		}
	}
	posing := near()
	posing.Posing = func(string) bool { return true }
	if e, err := Parse(Claude, said(Claude, "mcp__toolcrib__read_file", `{}`), posing); err != nil || e.Own || len(e.Deeds) != 1 {
		t.Errorf("a project brings another: %+v, %v", e, err)
	}
}

func TestOutcomes(t *testing.T) {
	for raw, want := range map[string]string{
		`{"hook_event_name":"PostToolUse","cwd":"/p","tool_name":"Bash","tool_response":{"stdout":"x"}}`:           `false {"stdout":"x"}`,
		`{"hook_event_name":"PostToolUseFailure","cwd":"/p","tool_name":"Bash","error":"Exit code 2"}`:             `true "Exit code 2"`,
		`{"hook_event_name":"AfterTool","cwd":"/p","tool_name":"x","tool_response":{"llmContent":"a","error":{}}}`: `true {"llmContent":"a","error":{}}`,
		`{"hook_event_name":"AfterTool","cwd":"/p","tool_name":"x"}`:                                               `false null`,
	} {
		client := Claude
		if strings.Contains(raw, "AfterTool") {
			client = Gemini
		}
		e, err := Parse(client, []byte(raw), near())
		if err != nil || !e.After || fmt.Sprintf("%v %s", e.Failed, e.Response) != want {
			t.Errorf("%s: %+v, %v", raw, e, err)
		}
	}
}

// TestAsks: a client that is set not to ask is not left to ask.
func TestAsks(t *testing.T) {
	for mode, want := range map[string]bool{"default": true, "plan": true, "acceptEdits": true, "bypassPermissions": false, "dontAsk": false, "auto": false, "": false, "new": false} {
		e, err := Parse(Claude, []byte(strings.Replace(string(said(Claude, "Read", `{"file_path":"a"}`)), `"permission_mode":"default"`, fmt.Sprintf(`"permission_mode":%q`, mode), 1)), near())
		if err != nil || e.Asks != want {
			t.Errorf("%s: %v, %v", mode, e.Asks, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	for _, client := range Clients() {
		for word := No; word <= Pass; word++ {
			stdout, stderr, status := Answer(client, word, "")
			blocks := word == No || word == Query && client == Codex
			if blocks != (status == 2) || blocks != (strings.TrimSpace(stderr) != "") || status != 0 && status != 2 || blocks && stdout != "" {
				t.Errorf("%s, %d: %q, %q, %d", client, word, stdout, stderr, status)
			}
			if stdout != "" && !json.Valid([]byte(stdout)) {
				t.Errorf("%s, %d: %q is no JSON", client, word, stdout)
			}
		}
	}
	if stdout, _, _ := Answer(Codex, Yes, ""); stdout != "" { // it takes an allow for a mistake
		t.Error(stdout)
	}
}

// TestLikeOurs: what stands for a tool of ours has its effects and its group.
func TestLikeOurs(t *testing.T) {
	ours := map[string]toolcrib.Tool{}
	add := func(box toolcrib.Toolbox, err error) {
		if err != nil {
			t.Fatal(err)
		}
		tools, err := box.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			ours[box.Name()+"/"+tool.Name] = tool
		}
	}
	add(files.Open(t.Context(), files.Config{}))
	add(shell.Open(t.Context(), shell.Config{Shell: "/bin/sh"}, shell.Needs{}))
	add(web.Open(t.Context(), web.Config{}))
	seen := map[string]bool{}
	for _, c := range []struct{ client, tool, input string }{
		{Claude, "Bash", `{"command":"x"}`}, {Claude, "Write", `{"file_path":"a"}`}, {Claude, "Edit", `{"file_path":"a"}`}, {Claude, "Read", `{"file_path":"a"}`}, {Claude, "LS", `{"path":"a"}`},
		{Claude, "Glob", `{"pattern":"a"}`}, {Claude, "Grep", `{"pattern":"a"}`}, {Claude, "WebFetch", `{"url":"a"}`}, {Claude, "WebSearch", `{"query":"a"}`}, {Codex, "apply_patch", `{"command":"*** Delete File: a"}`},
	} {
		e, err := Parse(c.client, said(c.client, c.tool, c.input), near())
		if err != nil {
			t.Fatal(err)
		}
		d := e.Deeds[0]
		our, ok := ours[d.Box+"/"+d.Tool]
		if !ok || our.Effects != d.Effects || our.Group != d.Group {
			t.Errorf("%s is %s/%s with %s in %s; ours has %s in %s", c.tool, d.Box, d.Tool, d.Effects, d.Group, our.Effects, our.Group)
		}
		var args map[string]any
		if err := json.Unmarshal(d.Input, &args); err != nil {
			t.Fatal(err)
		}
		for name := range args {
			if !strings.Contains(string(our.Input), fmt.Sprintf("%q:", name)) {
				t.Errorf("%s has no argument %s", d.Tool, name)
			}
		}
		seen[d.Tool] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d tools", len(seen))
	}
}

// FuzzParse: whatever a client sends, it is an error or has something to be judged,
// with inputs that are objects.
func FuzzParse(f *testing.F) {
	for _, client := range Clients() {
		for _, tool := range []string{"Bash", "Write", "Glob", "apply_patch", "run_shell_command", "web_fetch", "mcp__a__b", "mcp__toolcrib__x", "x y"} {
			f.Add(client, said(client, tool, `{"command":"*** Add File: a","file_path":"a","pattern":"**/x","prompt":"https://a.example"}`))
		}
		f.Add(client, []byte(`{"hook_event_name":"PostToolUse","cwd":"/p","tool_name":"x","tool_response":1}`))
	}
	f.Fuzz(func(t *testing.T, client string, raw []byte) {
		e, err := Parse(client, raw, near())
		if err != nil {
			return
		}
		if !slices.Contains(Clients(), client) || e.Tool == "" || e.Own && len(e.Deeds) > 0 || !e.Own && !e.After && len(e.Deeds) == 0 {
			t.Fatalf("%+v", e)
		}
		for _, d := range e.Deeds {
			var args map[string]any
			if json.Unmarshal(d.Input, &args) != nil || args == nil || !plainName(d.Box) || !plainName(d.Tool) {
				t.Fatalf("%+v", d)
			}
			if d.Path != "" && (!strings.HasPrefix(d.Path, "/") || strings.Contains("/"+d.Path+"/", "/../")) {
				t.Fatalf("%q", d.Path)
			}
		}
	})
}
