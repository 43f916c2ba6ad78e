package toolcrib

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/httpclient"
)

// TestFilesOfACall: a tool has the granted directories for as long as its call
// lasts, and not a moment longer.
func TestFilesOfACall(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	var kept *files.Handle
	tool := plain("reader")
	tool.Effects = Reads
	tool.Run = func(_ context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		if env.Files == nil {
			return Text("none"), nil
		}
		kept = env.Files
		env.Files = nil // what a tool does to its Env is its own affair
		text, _, err := kept.ReadFile("a", 100)
		return Text(string(text)), err
	}
	c := testCrib(t, tool)
	if r, err := c.Call(t.Context(), Call{Tool: "reader"}); err != nil || r.String() != "none" {
		t.Errorf("without a grant: %v, %v", r, err)
	}
	c.Grant.Dirs = []files.Dir{{Path: dir}}
	if r, err := c.Call(t.Context(), Call{Tool: "reader"}); err != nil || r.String() != "hello" {
		t.Errorf("%v, %v", r, err)
	}
	if _, _, err := kept.ReadFile("a", 100); err == nil {
		t.Error("the handle still works after the call")
	}
	c.Guards = append(c.Guards, say(Allow, "narrow", &Grant{}))
	if r, err := c.Call(t.Context(), Call{Tool: "reader"}); err != nil || r.String() != "none" {
		t.Errorf("narrowed to nothing: %v, %v", r, err)
	}
	// A tool that says it is pure is held to that, and one that says it reads.
	c.Guards = c.Guards[:1]
	for i, effects := range []Effects{Pure, Network, Runs, Reads} {
		want := []string{"none", "none", "hello", "hello"}[i]
		tool.Effects = effects
		if _, faults := c.Catalog.Load(t.Context(), Contents{Boxes: []Toolbox{NewBox("test", tool)}}); faults != nil {
			t.Fatal(faults)
		}
		if r, err := c.Call(t.Context(), Call{Tool: "reader"}); err != nil || r.String() != want {
			t.Errorf("%s: %v, %v", effects, r, err)
		}
	}
	c.Grant.Dirs = []files.Dir{{Path: "relative"}}
	if _, err := c.Call(t.Context(), Call{Tool: "reader"}); CodeOf(err) != CodeUnavailable {
		t.Errorf("a grant that is none: %v", err)
	}
}

// TestPreview: the person sees what would change; a tool that cannot tell is
// refused before anybody is asked.
func TestPreview(t *testing.T) {
	dir := t.TempDir()
	var asked []Question
	tool := plain("writer")
	tool.Effects = Writes
	c := testCrib(t)
	c.Log = quiet()
	c.Guards, c.Grant.Dirs = []Guard{say(Ask, "careful", nil)}, []files.Dir{{Path: dir, Write: true}}
	c.Approver = approverFunc(func(_ context.Context, q Question) (Answer, error) {
		asked = append(asked, q)
		return Answer{Decision: Allow}, nil
	})
	c.Limits.Timeout = 200 * time.Millisecond
	for _, p := range []struct {
		name string
		show func(context.Context, *Env, json.RawMessage) (string, error)
		want Code
		text string
	}{
		{"shown", func(_ context.Context, env *Env, input json.RawMessage) (string, error) {
			if env.Use != nil || env.Exec != nil || env.Ask != nil {
				t.Error("a preview has handles to act with")
			}
			if err := env.Files.WriteFile("x", nil, nil); err == nil {
				t.Error("a preview can write")
			}
			if string(input) != string(env.Call.Input) {
				t.Errorf("%s against %s", input, env.Call.Input)
			}
			return "+" + string(input), nil
		}, "", `+{"n":1}`},
		{"failing", func(context.Context, *Env, json.RawMessage) (string, error) { return "", errors.New("no such text") }, "failed", "no such text"},
		{"refusing", func(context.Context, *Env, json.RawMessage) (string, error) {
			return "", &Error{Code: CodeDenied, Message: "outside"}
		}, CodeDenied, "outside"},
		{"panicking", func(context.Context, *Env, json.RawMessage) (string, error) { panic("oops") }, CodeInternal, "broke down"},
		{"hanging", func(ctx context.Context, _ *Env, _ json.RawMessage) (string, error) { select {} }, CodeTimeout, "what it would change"},
	} {
		asked = nil
		tool.Preview = p.show
		if _, faults := c.Catalog.Load(t.Context(), Contents{Boxes: []Toolbox{NewBox("test", tool)}}); faults != nil {
			t.Fatal(faults)
		}
		r, err := c.Call(t.Context(), Call{Tool: "writer", Input: json.RawMessage(`{"n":1}`)})
		switch {
		case p.want == "failed":
			if err != nil || !r.Failed || r.String() != p.text || len(asked) > 0 {
				t.Errorf("%s: %v, %v, asked %v", p.name, r, err, asked)
			}
		case CodeOf(err) != p.want:
			t.Errorf("%s: %v", p.name, err)
		case p.want == "" && (len(asked) != 1 || asked[0].Preview != p.text || asked[0].Effects != Writes):
			t.Errorf("%s: asked %+v", p.name, asked)
		case p.want != "" && (len(asked) > 0 || !strings.Contains(err.Error(), p.text)):
			t.Errorf("%s: %v, asked %v", p.name, err, asked)
		}
	}
}

// TestUnseenIsAskedFirst: why a call would fail tells what is in a file, so that whoever
// must not look at it unasked does not hear it unasked either.
func TestUnseenIsAskedFirst(t *testing.T) {
	tool := plain("editor")
	tool.Preview = func(context.Context, *Env, json.RawMessage) (string, error) {
		return "", errors.New("it begins with another letter")
	}
	c := testCrib(t, tool)
	c.Guards = append(c.Guards, guardFunc(func(Review) (*Verdict, error) {
		return &Verdict{Decision: Ask, Guard: "rules", Unseen: true}, nil
	}))
	var shown string
	answer := func(d Decision) Approver {
		return approverFunc(func(_ context.Context, q Question) (Answer, error) {
			shown = q.Preview
			return Answer{Decision: d}, nil
		})
	}
	for _, tt := range []struct {
		name string
		a    Approver
		code Code
		told bool
	}{{"nobody", nil, CodeUnavailable, false}, {"no", answer(Deny), CodeDenied, false}, {"yes", answer(Allow), "", true}} {
		shown, c.Approver = "", tt.a
		r, err := c.Call(t.Context(), Call{Tool: "editor", Input: json.RawMessage(`{"n":1}`)})
		if CodeOf(err) != tt.code {
			t.Errorf("%s: %v, %v", tt.name, r, err)
		}
		if told := strings.Contains(fmt.Sprint(r, err), "another letter"); told != tt.told {
			t.Errorf("%s: the caller gets %v, %v", tt.name, r, err)
		}
		if tt.a != nil && !strings.Contains(shown, "another letter") {
			t.Errorf("%s: the person is shown %q", tt.name, shown)
		}
	}
}

// TestCmdSaysForWhom: the crib, and not the tool, tells the sandbox for whom a
// program runs and what it can do.
func TestCmdSaysForWhom(t *testing.T) {
	box := &recordingSandbox{}
	tool := plain("runner")
	tool.Effects = Runs | Writes | Destroys
	tool.Run = func(ctx context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		_, err := env.Exec(ctx, Cmd{Path: "/bin/true", Tool: "innocent", Effects: Pure})
		return Text("ran"), err
	}
	c := testCrib(t, tool)
	c.Sandbox, c.Grant.Programs, c.Grant.Dirs = box, []string{"/bin/true"}, []files.Dir{{Path: t.TempDir(), Write: true}}
	for _, s := range []struct {
		guards []Guard
		want   Effects
	}{
		{nil, Runs | Writes | Destroys},
		{[]Guard{understands(Runs | Reads)}, Runs},
		{[]Guard{understands(Runs | Writes), understands(Runs | Destroys)}, Runs},
		{[]Guard{understands(Network)}, 0}, // it says what cannot be: it counts as all
	} {
		c.Guards = append([]Guard{AllowEffects(allEffects)}, s.guards...)
		if _, err := c.Call(t.Context(), Call{Tool: "runner"}); err != nil {
			t.Fatal(err)
		}
		if box.cmd.Tool != "runner" || box.cmd.Effects != s.want {
			t.Errorf("%s %s, want %s", box.cmd.Tool, box.cmd.Effects, s.want)
		}
		if write := s.want&Writes != 0 || s.want == 0; box.grant.Dirs[0].Write != write {
			t.Errorf("%s: the sandbox lets it write: %v", s.want, box.grant.Dirs[0].Write)
		}
	}
}

type recordingSandbox struct {
	cmd   Cmd
	grant Grant
}

func (*recordingSandbox) Enforces() Bounds { return 0 }

func (s *recordingSandbox) Run(_ context.Context, cmd Cmd, grant Grant) (Exit, error) {
	s.cmd, s.grant = cmd, grant
	return Exit{}, nil
}

// TestRefusedInADialect: a caller who looks for refusals in results finds them
// there; the record tells the truth.
func TestRefusedInADialect(t *testing.T) {
	c := testCrib(t)
	c.Log = quiet()
	c.Guards = []Guard{say(Deny, "strict", nil)}
	adapter := Adapter{Spec: Spec{Name: "x", Input: json.RawMessage(`{"type":"object","required":["a"]}`)}, Dialect: "d", Box: "box", Native: "x"}
	caller := Caller{Dialect: "d"}
	for _, s := range []struct {
		input   string
		refused func(json.RawMessage, *Error) *Result
		want    string // of the result; empty: the refusal stays one
		code    Code
	}{
		{`{"a":1}`, func(in json.RawMessage, e *Error) *Result { return Text(string(in) + " " + string(e.Code)) }, `{"a":1} denied`, CodeDenied},
		{`{"a":1}`, func(json.RawMessage, *Error) *Result { return nil }, "", CodeDenied},
		{`{"a":1}`, func(json.RawMessage, *Error) *Result { panic("oops") }, "", CodeDenied},
		{`{}`, func(json.RawMessage, *Error) *Result { return Text("never") }, "", CodeInvalid}, // it never was a call of the dialect
	} {
		journal := &pages{}
		c.Journal, adapter.Refused = journal, s.refused
		if _, faults := c.Catalog.Load(t.Context(), Contents{Boxes: []Toolbox{NewBox("box", plain("x"))}, Adapters: []Adapter{adapter}}); faults != nil {
			t.Fatal(faults)
		}
		r, err := c.Call(t.Context(), Call{Tool: "x", Caller: caller, Input: json.RawMessage(s.input)})
		if s.want == "" && CodeOf(err) != s.code || s.want != "" && (err != nil || r.String() != s.want) {
			t.Errorf("%s: %v, %v", s.input, r, err)
		}
		if rec := journal.only(t); rec.Outcome != Outcome(s.code) {
			t.Errorf("recorded as %s", rec.Outcome)
		}
	}
}

func get(t *testing.T, client *http.Client, url string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(resp.Body)
	return string(text), errors.Join(err, resp.Body.Close())
}

// TestHTTPOfACall: a tool reaches the granted hosts for as long as its call
// lasts, and its connections end with it.
func TestHTTPOfACall(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	closed := make(chan struct{}, 10)
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed <- struct{}{}
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	var kept *http.Client
	tool := plain("getter")
	tool.Run = func(_ context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		if env.HTTP == nil {
			return Text("none"), nil
		}
		kept = env.HTTP
		env.HTTP = nil // what a tool does to its Env is its own affair
		text, err := get(t, kept, srv.URL)
		return Text(text), err
	}
	c := testCrib(t)
	for _, s := range []struct {
		name    string
		effects Effects
		hosts   []string
		narrow  *Grant
		want    string // or a code
	}{
		{"nothing granted", Network, nil, nil, "none"},
		{"granted", Network, []string{"127.0.0.1"}, nil, "hello"},
		{"undeclared", 0, []string{"127.0.0.1"}, nil, "hello"},
		{"not declared", Reads | Writes, []string{"127.0.0.1"}, nil, "none"},
		{"pure", Pure, []string{"127.0.0.1"}, nil, "none"},
		{"anywhere", Network, []string{"*"}, nil, "denied"},
		{"elsewhere", Network, []string{"example.com"}, nil, "denied"},
		{"narrowed away", Network, []string{"127.0.0.1"}, &Grant{}, "none"},
		{"narrowed to names", Network, []string{"127.0.0.1", "*"}, &Grant{Hosts: []string{"*"}}, "denied"},
		{"not narrowed", Network, []string{"127.0.0.0/8", "*"}, &Grant{Hosts: httpclient.AllHosts()}, "hello"},
	} {
		tool.Effects, kept = s.effects, nil
		if _, faults := c.Catalog.Load(t.Context(), Contents{Boxes: []Toolbox{NewBox("test", tool)}}); faults != nil {
			t.Fatal(faults)
		}
		c.Grant.Hosts, c.Guards = s.hosts, []Guard{AllowEffects(allEffects)}
		if s.narrow != nil {
			c.Guards = append(c.Guards, say(Allow, "narrow", s.narrow))
		}
		got := ""
		r, err := c.Call(t.Context(), Call{Tool: "getter"})
		if got = string(CodeOf(err)); err == nil {
			got = r.String()
		}
		if got != s.want {
			t.Errorf("%s: %s, %v", s.name, got, err)
		}
		if e, ok := AsError(err); ok && (e.Tool != "getter" || !strings.Contains(e.Message, "grant.hosts")) {
			t.Errorf("%s: %v", s.name, err)
		}
		if kept == nil {
			continue
		}
		if _, err := get(t, kept, srv.URL); CodeOf(err) != CodeDenied || !strings.Contains(err.Error(), "is over") && s.want == "hello" {
			t.Errorf("%s: after the call: %v", s.name, err)
		}
	}
	for range 3 { // calls got through, and their connections end with them
		<-closed
	}
}

// TestCallEndsItsRequests: a tool that runs on reads no more, and what it has
// begun to send is cut off.
func TestCallEndsItsRequests(t *testing.T) {
	release, begun := make(chan struct{}), make(chan struct{}, 2)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		if r.URL.Path == "/never" {
			select {
			case <-r.Context().Done():
			case <-release:
			}
			return
		}
		fmt.Fprint(w, "the first half")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	t.Cleanup(srv.Close)
	defer close(release)
	errs := make(chan error, 2)
	tool := plain("getter")
	tool.Effects = Network
	tool.Run = func(_ context.Context, env *Env, _ json.RawMessage) (*Result, error) {
		client := env.HTTP
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, srv.URL, http.NoBody)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req) //nolint:bodyclose // by who reads it, after the tool has left
		if err != nil {
			return nil, err
		}
		body := resp.Body
		go func() {
			defer body.Close()
			_, err := io.ReadAll(body)
			errs <- err
		}()
		go func() {
			r := req.Clone(context.Background())
			r.URL.Path = "/never"
			resp, err := client.Do(r)
			if err == nil {
				_ = resp.Body.Close()
			}
			errs <- err
		}()
		for range 2 { // both are under way
			<-begun
		}
		return Text("left early"), nil
	}
	c := testCrib(t, tool)
	c.Grant.Hosts = []string{"127.0.0.1"}
	if r, err := c.Call(t.Context(), Call{Tool: "getter"}); err != nil || r.String() != "left early" {
		t.Fatalf("%v, %v", r, err)
	}
	for range 2 {
		if err := <-errs; err == nil {
			t.Error("it got to the end after the call was over")
		}
	}
}
