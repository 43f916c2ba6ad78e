package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib/internal/desk"
)

// site is a project directory with a home of its own, for real processes.
type site struct {
	t    *testing.T
	dir  string
	env  []string
	args []string
}

func newSite(t *testing.T, args ...string) *site {
	t.Helper()
	home := t.TempDir()
	s := &site{t: t, dir: t.TempDir(), args: args}
	s.env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "TOOLCRIB_HOME="+filepath.Join(home, "toolcrib"))
	return s
}

func (s *site) command(args ...string) *exec.Cmd {
	cmd := exec.Command("toolcrib", append(s.args, args...)...) //nolint:noctx // it ends with its pipes
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// toolcrib runs the program and gives what it printed.
func (s *site) toolcrib(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// mcp starts a server, and a client of it with a person if says is set.
func (s *site) mcp(says func(*mcp.ElicitParams) *mcp.ElicitResult) (*mcp.ClientSession, *exec.Cmd) {
	s.t.Helper()
	cmd := s.command("mcp")
	cmd.Stderr = os.Stderr
	opts := &mcp.ClientOptions{}
	if says != nil {
		opts.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return says(r.Params), nil }
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "window", Version: "1"}, opts).Connect(s.t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close() })
	return session, cmd
}

func (s *site) call(session *mcp.ClientSession, tool, args string) (text string, bad bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text += c.Text
		}
	}
	return text, r.IsError
}

// open gives the questions that wait.
func (s *site) open() []desk.Question {
	s.t.Helper()
	var list []desk.Question
	if err := json.Unmarshal([]byte(s.toolcrib("approvals", "-o", "json")), &list); err != nil {
		s.t.Fatal(err)
	}
	return list
}

// one waits for the one question that is asked.
func (s *site) one() desk.Question {
	s.t.Helper()
	for range 100 {
		if list := s.open(); len(list) == 1 {
			return list[0]
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("not one question: %+v", s.open())
	return desk.Question{}
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) read(name string) string {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}

const writeNew = `{"path":"new.txt","content":"hello"}`

// A question of toolcrib mcp is answered in another process, after the server
// has died: the call that is repeated goes through, once.
func TestApprovalOutlivesTheServer(t *testing.T) {
	s := newSite(t)
	session, server := s.mcp(nil)
	began := time.Now()
	text, bad := s.call(session, "write_file", writeNew)
	if took := time.Since(began); took > 20*time.Second { // desk.wait is 50 s: it is not waited for
		t.Errorf("the client that cannot ask heard of it after %v", took)
	}
	if !bad || !strings.Contains(text, "unavailable: a person has to approve this, and nobody is there to be asked") || !strings.Contains(text, "toolcrib approvals allow q-") {
		t.Fatalf("%v %s", bad, text)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	q := s.one()
	if !strings.Contains(text, q.ID) || !strings.Contains(q.Preview, "+hello") {
		t.Errorf("%s is not about %+v", text, q)
	}
	if out := s.toolcrib("approvals", "allow", q.ID[:7]); !strings.Contains(out, "Allowed once") {
		t.Error(out)
	}
	session, _ = s.mcp(nil)
	if text, bad := s.call(session, "write_file", writeNew); bad || s.read("new.txt") != "hello" {
		t.Fatalf("%v %s", bad, text)
	}
	if text, bad := s.call(session, "write_file", `{"path":"new.txt","content":"again"}`); !bad {
		t.Errorf("another call went through: %s", text)
	}
}

// While the call waits, the answer comes from another process.
func TestApprovalFromElsewhere(t *testing.T) {
	s := newSite(t, "--set", "desk.unattended=await", "--set", "desk.wait=50s")
	session, _ := s.mcp(nil)
	done := make(chan string, 1)
	go func() {
		r, err := session.CallTool(context.WithoutCancel(t.Context()), &mcp.CallToolParams{Name: "write_file", Arguments: json.RawMessage(writeNew)})
		if err != nil || r.IsError {
			done <- "refused"
			return
		}
		done <- ""
	}()
	s.toolcrib("approvals", "allow", s.one().ID, "--edit", `{"path":"other.txt","content":"mine"}`)
	if got := <-done; got != "" || s.read("other.txt") != "mine" || s.read("new.txt") != "" {
		t.Errorf("%q; %q, %q", got, s.read("other.txt"), s.read("new.txt"))
	}
}

// An answer is to what was shown. If the file has changed since, it is asked
// again, and the old answer counts for nothing.
func TestApprovalOfAnotherFile(t *testing.T) {
	s := newSite(t, "--set", "desk.unattended=await", "--set", "desk.wait=1s")
	s.write("a.txt", "one\ntwo\n")
	session, _ := s.mcp(nil)
	const edit = `{"path":"a.txt","old_text":"two","new_text":"2"}`
	if text, bad := s.call(session, "edit_file", edit); !bad || !strings.Contains(text, "timeout") {
		t.Fatalf("%v %s", bad, text)
	}
	first := s.one()
	s.toolcrib("approvals", "allow", first.ID)
	s.write("a.txt", "zero\none\ntwo\n")
	if text, bad := s.call(session, "edit_file", edit); !bad || !strings.Contains(text, "timeout") {
		t.Fatalf("%v %s", bad, text)
	}
	second := s.one()
	if second.ID == first.ID || second.Replaces != first.ID || s.read("a.txt") != "zero\none\ntwo\n" {
		t.Errorf("%+v", second)
	}
	s.toolcrib("approvals", "allow", second.ID)
	if text, bad := s.call(session, "edit_file", edit); bad || s.read("a.txt") != "zero\none\n2\n" {
		t.Errorf("%v %s", bad, text)
	}
}

// A client with a person is asked itself, by a real server.
func TestApprovalInTheClient(t *testing.T) {
	s := newSite(t)
	var shown string
	session, _ := s.mcp(func(p *mcp.ElicitParams) *mcp.ElicitResult {
		shown = p.Message
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow it once"}}
	})
	if text, bad := s.call(session, "write_file", writeNew); bad || s.read("new.txt") != "hello" || !strings.Contains(shown, "+hello") {
		t.Errorf("%v %s\n%s", bad, text, shown)
	}
	if list := s.open(); len(list) != 0 {
		t.Errorf("still open: %+v", list)
	}
}

// A call without a terminal leaves its question; it is made again once it was
// answered.
func TestApprovalOfACommandLine(t *testing.T) {
	s := newSite(t)
	args := []string{"call", "write_file", "--json", writeNew}
	out, err := s.command(args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "nobody is there to be asked") || !strings.Contains(string(out), "toolcrib approvals allow q-") {
		t.Fatalf("%v %s", err, out)
	}
	s.toolcrib("approvals", "allow", s.one().ID, "--project")
	s.toolcrib(args...)
	s.toolcrib(args...)
	s.toolcrib("grants", "revoke", "--all")
	if out, err := s.command(args...).CombinedOutput(); err == nil {
		t.Errorf("revoked: %s", out)
	}
	out, err = s.command("--set", "desk.unattended=refuse", "call", "write_file", "--json", `{"path":"z","content":"z"}`).CombinedOutput()
	if err == nil || strings.Contains(string(out), "approvals") || len(s.open()) != 1 {
		t.Errorf("%v %s", err, out)
	}
}
