package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// hookSite is a person with a project and a client.
type hookSite struct {
	t         *testing.T
	home, dir string
	mode      string // of the client
}

const hookRules = `permissions:
  allow: ["run_command(ls *)", "write_file(./ok/**)", "edit_file(./ok/**)"]
  deny: ["run_command(git push *)", "github/delete_repo"]
`

func newHookSite(t *testing.T, settings string) *hookSite {
	s := &hookSite{t: t, home: t.TempDir(), dir: t.TempDir(), mode: "default"}
	if dir, err := filepath.EvalSymlinks(s.dir); err == nil {
		s.dir = dir
	}
	s.write(filepath.Join(s.home, "config.yaml"), settings)
	s.write(filepath.Join(s.dir, ".env"), "KEY=1")
	s.write(filepath.Join(s.dir, "ok", "a.txt"), "a")
	return s
}

func (s *hookSite) write(file, text string) {
	s.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *hookSite) raw(event, tool, input string, more ...string) string {
	dir, _ := json.Marshal(s.dir)
	return fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s1","cwd":%s,"permission_mode":%q,"tool_use_id":"u1","tool_name":%q,"tool_input":%s%s}`, event, dir, s.mode, tool, input, strings.Join(more, ""))
}

// hook runs the hook of a client with a message.
func (s *hookSite) hook(ctx context.Context, in io.Reader, args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	c := &command{
		in: io.NopCloser(in), out: &out, err: &errs, dir: s.dir,
		environ: []string{"TOOLCRIB_HOME=" + s.home, "HOME=" + s.home, "CLAUDE_PROJECT_DIR=" + s.dir},
	}
	args = append([]string{"hook"}, args...)
	status = c.hookStatus(args, c.run(ctx, args))
	return out.String(), errs.String(), status
}

// word is what a client takes an answer for.
func (s *hookSite) word(client, event, tool, input string, more ...string) string {
	s.t.Helper()
	stdout, stderr, status := s.hook(s.t.Context(), strings.NewReader(s.raw(event, tool, input)), append([]string{client}, more...)...)
	switch {
	case status == 2 && stdout == "" && strings.HasPrefix(stderr, "Toolcrib"):
		return "no: " + stderr
	case status != 0:
		s.t.Errorf("%s %s: status %d, %q, %q", tool, input, status, stdout, stderr)
		return ""
	}
	for _, word := range []string{`"ask"`, `"allow"`} {
		if strings.Contains(stdout, word) {
			return strings.Trim(word, `"`)
		}
	}
	return "pass"
}

func (s *hookSite) records() []toolcrib.Record {
	s.t.Helper()
	var out bytes.Buffer
	c := &command{in: io.NopCloser(strings.NewReader("")), out: &out, err: io.Discard, dir: s.dir, environ: []string{"TOOLCRIB_HOME=" + s.home, "HOME=" + s.home}}
	if status := c.run(s.t.Context(), []string{"journal", "-o", "json", "--limit", "100"}); status != 0 {
		s.t.Fatal(out.String())
	}
	var list []toolcrib.Record
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		s.t.Fatal(err)
	}
	return list
}

// TestHookJudges: a client's own tools are allowed, asked about and refused by our
// rules, and each is in the journal.
func TestHookJudges(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, hookRules)
	n := 0
	for _, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"ls ok"}`, "allow"},
		{"Bash", `{"command":"git push origin x"}`, "no: Toolcrib does not allow this: rules: a rule of the user says deny: run_command(git push *)"},
		{"Bash", `{"command":"ls ok; git push origin x"}`, "no: "},
		{"Bash", `{"command":"ls $(git push origin x)"}`, "no: "},
		{"Bash", `{"command":"touch x"}`, "ask"},
		{"Bash", `{"command":"cat .env"}`, "ask"},
		{"Bash", `{"command":"ls /"}`, "ask"},
		{"Bash", `{"command":"echo {} > .claude/settings.json"}`, "ask"},
		{"Bash", `{"command":"ls | tee ~/.codex/hooks.json"}`, "ask"},
		{"Write", `{"file_path":"ok/new.txt","content":"x"}`, "allow"},
		{"Write", `{"file_path":"ok/../x.txt","content":"x"}`, "ask"},
		{"Write", `{"file_path":"ok/../../x.txt","content":"x"}`, "no: "},
		{"Write", `{"file_path":"ok/.env","content":"x"}`, "no: "},
		{"Write", `{"file_path":".claude/settings.json","content":"x"}`, "ask"},
		{"Write", `{"file_path":"ok/.gemini/settings.json","content":"x"}`, "ask"},
		{"Write", `{"file_path":"~/.claude/settings.json","content":"x"}`, "no: "},
		{"Edit", `{"file_path":"ok/a.txt","old_string":"a","new_string":"b"}`, "allow"},
		{"Edit", `{"file_path":".codex/hooks.json","old_string":"a","new_string":"b"}`, "ask"},
		{"Read", `{"file_path":"ok/a.txt"}`, "pass"},
		{"Read", `{"file_path":".env"}`, "no: "},
		{"Read", `{"file_path":"/etc/passwd"}`, "no: "},
		{"Glob", `{"pattern":"/etc/*"}`, "no: "},
		{"Grep", `{"pattern":"KEY","path":".env"}`, "no: "},
		{"WebFetch", `{"url":"https://a.example"}`, "no: "},
		{"TodoWrite", `{"todos":[]}`, "pass"},
		{"WaitForMcpServers", `{}`, "pass"},
		{"write", `{"file_path":"ok/new.txt"}`, "ask"},
		{"mcp__github__delete_repo", `{}`, "no: "},
		{"mcp__github__list", `{}`, "ask"},
		{"mcp__shell__run_command", `{"command":"ls"}`, "ask"},
		{"mcp__files__write_file", `{"path":"ok/x"}`, "ask"},
	} {
		n++
		got := s.word("claude-code", "PreToolUse", c.tool, c.input)
		if !strings.HasPrefix(got, c.want) || strings.HasPrefix(got, "no") != strings.HasPrefix(c.want, "no") {
			t.Errorf("%s %s: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
	if got := s.word("claude-code", "PreToolUse", "mcp__toolcrib__read_file", `{}`); got != "allow" {
		t.Error(got) // our server judges and records it, and asks
	}
	if got := s.word("claude-code", "PostToolUse", "mcp__toolcrib__read_file", `{}`); got != "pass" {
		t.Error(got)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		`{"mcpServers":{"other":{"command":"/bin/evil"}}}`:                                                                      "allow",
		`{"mcpServers":{"toolcrib":{"command":"/bin/evil"}}}`:                                                                   "ask",
		`{"mcpServers":{"toolcr\u0069b":{"command":"/bin/evil"}}}`:                                                              "ask",
		`{"mcpServers":{"toolcrib":{"command":"/bin/evil","COMMAND":` + strconv.Quote(self) + `}}}`:                             "ask",
		`{"mcpServers":{"toolcrib":{"command":"/bin/evil"}},"MCPSERVERS":{"toolcrib":{"command":` + strconv.Quote(self) + `}}}`: "ask",
		`{"mcpServers":{"toolcrib":{"command":` + strconv.Quote(self) + `,"args":["mcp","--config","allows-all.yaml"]}}}`:       "pass", // ours, with the project's settings: the client asks
		"{\"mcpServers\":{\"toolcrib\":{\"command\":\"/bin/evil\"}} // what is no JSON here may be some there":                  "ask",
		`{"mcpServers":{"toolcrib":` + strings.Repeat(" ", plainfile.MaxSettings) + `{"command":"/bin/evil"}}}`:                 "ask",
	} {
		s.write(filepath.Join(s.dir, ".mcp.json"), file)
		got := s.word("claude-code", "PreToolUse", "mcp__toolcrib__read_file", `{}`)
		if got != want {
			t.Errorf("%.100s: %s, want %s", file, got, want)
		}
		if got == "ask" {
			n++
		}
	}
	list := s.records()
	if len(list) != n {
		t.Errorf("%d records of %d calls", len(list), n)
	}
	r := list[len(list)-1]
	if r.Tool != "run_command" || r.Caller.Client != "claude-code" || r.Caller.Session != "s1" || r.Caller.Frontend != "hook" || r.Parent != "u1" || r.Outcome != toolcrib.Done || !strings.Contains(string(r.Input), "ls ok") {
		t.Errorf("%+v", r)
	}
}

// TestHookRecordsOutcomes: what became of a call is written down without secrets.
func TestHookRecordsOutcomes(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, hookRules+"profile: minimal\n")
	for _, c := range []string{
		s.raw("PostToolUse", "Bash", `{"command":"ls"}`, `,"tool_response":{"stdout":"`+"ghp_"+strings.Repeat("a1B2", 9)+`"}`),
		s.raw("PostToolUseFailure", "Bash", `{"command":"ls"}`, `,"error":"Exit code 2"`),
	} {
		if stdout, stderr, status := s.hook(t.Context(), strings.NewReader(c), "claude-code"); stdout != "" || status != 0 {
			t.Errorf("%q, %q, %d", stdout, stderr, status)
		}
	}
	list := s.records()
	if len(list) != 2 || list[0].Outcome != toolcrib.Broke || list[1].Outcome != toolcrib.Done || list[1].Tool != "outcome" || list[1].Parent != "u1" || strings.Contains(string(marshalled(json.Marshal(list[1]))), "ghp_") {
		t.Errorf("%+v", list)
	}
}

// TestHookDesk: a client that cannot ask, or is set not to, is refused until the
// question is answered.
func TestHookDesk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ client, mode, event, tool, input string }{
		{"claude-code", "bypassPermissions", "PreToolUse", "Bash", `{"command":"touch x"}`},
		{"gemini", "", "BeforeTool", "run_shell_command", `{"command":"touch x"}`},
	} {
		s := newHookSite(t, hookRules)
		s.mode = c.mode
		args := []string(nil)
		if c.client == "gemini" {
			args = []string{"--ask", "desk"}
		}
		no := s.word(c.client, c.event, c.tool, c.input, args...)
		id := regexp.MustCompile(`toolcrib approvals allow (q-\w+)`).FindStringSubmatch(no)
		if id == nil {
			t.Fatal(no)
		}
		if out, errs, status := runCLI(t, s.home, "approvals", "allow", id[1]); status != 0 {
			t.Fatal(out, errs)
		}
		if got := s.word(c.client, c.event, c.tool, c.input, args...); got != "pass" && got != "allow" {
			t.Errorf("%s after the answer: %s", c.client, got)
		}
	}
}

// TestHookOfAStranger: what a project brings along allows nothing.
func TestHookOfAStranger(t *testing.T) {
	t.Parallel()
	s := newHookSite(t, hookRules)
	s.write(filepath.Join(s.dir, "toolcrib.yaml"), "mode: yolo\npermissions:\n  allow: [run_command, write_file, read_file]\n")
	for _, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"touch x"}`, "ask"}, {"Write", `{"file_path":"x","content":"x"}`, "ask"}, {"Write", `{"file_path":"/x","content":"x"}`, "no"},
	} {
		if got := s.word("claude-code", "PreToolUse", c.tool, c.input); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", c.tool, got)
		}
	}
}

// TestHookModes: the modes mean what they mean for our own tools; what is asked
// about in every mode is asked about here as well.
func TestHookModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string][3]string{"plan": {"no", "no", "no"}, "default": {"ask", "ask", "ask"}, "auto-edit": {"ask", "allow", "ask"}, "yolo": {"pass", "allow", "ask"}} {
		s := newHookSite(t, "mode: "+mode+"\n")
		for i, c := range []struct{ tool, input string }{
			{"Bash", `{"command":"touch x"}`}, {"Write", `{"file_path":"x","content":"x"}`}, {"Write", `{"file_path":".claude/settings.json","content":"x"}`},
		} {
			if got := s.word("claude-code", "PreToolUse", c.tool, c.input); !strings.HasPrefix(got, want[i]) {
				t.Errorf("%s: %s %s: %s, want %s", mode, c.tool, c.input, got, want[i])
			}
		}
	}
}

// TestHookFailsClosed: whatever goes wrong, the client is told no, with a sentence.
func TestHookFailsClosed(t *testing.T) {
	t.Parallel()
	bash := `{"command":"ls ok"}`
	for name, broken := range map[string]func(*hookSite) (in io.Reader, args []string){
		"broken settings": func(s *hookSite) (io.Reader, []string) {
			s.write(filepath.Join(s.home, "config.yaml"), "mode: [\n")
			return nil, nil
		},
		"senseless settings": func(s *hookSite) (io.Reader, []string) {
			s.write(filepath.Join(s.home, "config.yaml"), "permissions:\n  allow: ['run_command(']\n")
			return nil, nil
		},
		"missing settings": func(s *hookSite) (io.Reader, []string) {
			return nil, []string{"claude-code", "--config", filepath.Join(s.home, "none.yaml")}
		},
		"an unknown agent": func(*hookSite) (io.Reader, []string) { return nil, []string{"claude-code", "--agent", "nobody"} },
		"no journal": func(s *hookSite) (io.Reader, []string) {
			s.write(filepath.Join(s.home, "state", "journal"), "in the way")
			s.write(filepath.Join(s.home, "journal"), "in the way")
			return nil, nil
		},
		"bad JSON":          func(*hookSite) (io.Reader, []string) { return strings.NewReader("{"), nil },
		"nothing":           func(*hookSite) (io.Reader, []string) { return strings.NewReader(""), nil },
		"too much":          func(*hookSite) (io.Reader, []string) { return io.LimitReader(zeros{}, 17<<20), nil },
		"input that breaks": func(*hookSite) (io.Reader, []string) { return failing{}, nil },
		"an unknown asker":  func(*hookSite) (io.Reader, []string) { return nil, []string{"claude-code", "--ask", "me"} },
		"an unknown client": func(*hookSite) (io.Reader, []string) { return nil, []string{"vi"} },
		"no client":         func(*hookSite) (io.Reader, []string) { return nil, []string{} },
		"an unknown flag":   func(*hookSite) (io.Reader, []string) { return nil, []string{"claude-code", "--x"} },
		"a cwd that is gone": func(s *hookSite) (io.Reader, []string) {
			gone := strings.Replace(s.raw("PreToolUse", "Bash", bash), `"cwd":"`, `"cwd":"`+filepath.ToSlash(s.dir)+"/gone", 1)
			return strings.NewReader(gone), nil
		},
	} {
		s := newHookSite(t, hookRules)
		in, args := broken(s)
		if in == nil {
			in = strings.NewReader(s.raw("PreToolUse", "Bash", bash))
		}
		if args == nil {
			args = []string{"claude-code"}
		}
		stdout, stderr, status := s.hook(t.Context(), in, args...)
		if status != 2 || stdout != "" || strings.TrimSpace(stderr) == "" {
			t.Errorf("%s: %d, %q, %q", name, status, stdout, stderr)
		}
	}
	s := newHookSite(t, hookRules)
	ended, cancel := context.WithCancel(t.Context()) // as SIGTERM does
	blocked, w := io.Pipe()
	defer w.Close()
	cancel()
	if stdout, stderr, status := s.hook(ended, blocked, "claude-code"); status != 2 || stdout != "" || stderr == "" {
		t.Errorf("ended while it reads: %d, %q, %q", status, stdout, stderr)
	}
	if stdout, stderr, status := s.hook(ended, strings.NewReader(s.raw("PreToolUse", "Bash", bash)), "claude-code"); status != 2 || stdout != "" || stderr == "" {
		t.Errorf("ended while it judges: %d, %q, %q", status, stdout, stderr)
	}
	c := &command{in: io.NopCloser(strings.NewReader(s.raw("PreToolUse", "Bash", bash))), out: failing{}, err: io.Discard, dir: s.dir, environ: []string{"TOOLCRIB_HOME=" + s.home, "HOME=" + s.home, "CLAUDE_PROJECT_DIR=" + s.dir}}
	if status := c.hookStatus(nil, c.run(t.Context(), []string{"hook", "claude-code"})); status != 2 {
		t.Errorf("an answer that nobody gets: %d", status)
	}
	c2 := &command{ // a part that breaks down
		in: io.NopCloser(strings.NewReader(s.raw("PreToolUse", "Bash", bash))), out: panicking{}, err: io.Discard, dir: s.dir, environ: c.environ,
	}
	if status := c2.hookStatus(nil, c2.run(t.Context(), []string{"hook", "claude-code"})); status != 2 {
		t.Errorf("a panic: %d", status)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("broken") }

type failing struct{}

func (failing) Read([]byte) (int, error)  { return 0, errors.New("broken") }
func (failing) Write([]byte) (int, error) { return 0, errors.New("broken") }

// TestConnectHooks: what is written is kept by the client's program to the letter,
// and is taken out again without a trace.
func TestConnectHooks(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for client, file := range map[string]string{"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"} {
		file = filepath.Join(home, filepath.FromSlash(file))
		before := "{\n\t// mine\n\t\"model\": \"x\"\n}\n"
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(before), 0o600)); err != nil {
			t.Fatal(err)
		}
		if out, errs, status := runCLI(t, home, "connect", client, "--hooks", "--dry-run"); status != 0 || !strings.Contains(out, " hook "+client) {
			t.Errorf("%s: %q, %q", client, out, errs)
		}
		out, errs, status := runCLI(t, home, "connect", client, "--hooks")
		if status != 0 || !strings.Contains(out, "It runs: ") {
			t.Fatalf("%s: %q, %q", client, out, errs)
		}
		once, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(once), "// mine") || strings.Contains(string(once), " || exit 2") != (runtime.GOOS != "windows") {
			t.Errorf("%s: %s, %v", client, once, err)
		}
		if out, _, _ := runCLI(t, home, "connect", client, "--hooks"); !strings.Contains(out, "already") {
			t.Errorf("%s: %q", client, out)
		}
		if twice, _ := os.ReadFile(file); !bytes.Equal(once, twice) {
			t.Errorf("%s: written twice: %s", client, twice)
		}
		if out, errs, status := runCLI(t, home, "connect", client, "--hooks", "--undo"); status != 0 {
			t.Errorf("%s: %q, %q", client, out, errs)
		}
		if after, _ := os.ReadFile(file); string(after) != before {
			t.Errorf("%s: left %q", client, after)
		}
	}
	if _, errs, status := runCLI(t, home, "connect", "opencode", "--hooks"); status != 2 || !strings.Contains(errs, "has no hooks that Toolcrib knows") {
		t.Errorf("%d, %q", status, errs)
	}
}

func marshalled(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}
