package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/app"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/settings"
	voiced "github.com/toolcrib/toolcrib/internal/spoken"
)

// refusal is a call over a bus that is not done, and what a person is told of it.
type refusal struct {
	toolbox, tool, kwargs string
	want                  voiced.Key
	ours                  bool // told by the sentence alone: the original has no words for it
	before                int  // how often it is done first
}

// refusing is a program that refuses calls in its own way.
type refusing struct {
	name  string
	set   func(cfg *settings.Config)
	needs func(needs *app.Needs)
	crib  func(c *toolcrib.Crib)
	calls []refusal
}

const (
	filesID, shellID, mathID, clockID, webID = "ovos-filesystem-tools", "ovos-shell-tools", "ovos-math-tools", "ovos-clock-tools", "ovos-web-search-tools"

	sum     = `{"expression":"6*7"}`
	aFile   = `{"path":"a.txt"}`
	written = `{"path":"b.txt","content":"x"}`
)

// everyTool calls each tool of the contracts.
func everyTool(want voiced.Key) []refusal {
	return []refusal{
		{filesID, "read_file", aFile, want, true, 0}, {filesID, "write_file", written, want, true, 0}, {filesID, "list_directory", `{"path":"."}`, want, true, 0},
		{filesID, "search_in_files", `{"pattern":"x"}`, want, true, 0}, {filesID, "find_files", `{"glob":"*"}`, want, true, 0},
		{shellID, "run_command", `{"command":"ls"}`, want, true, 0}, {webID, "web_search", `{"query":"q"}`, want, true, 0}, {clockID, "get_current_datetime", `{}`, want, true, 0},
		{mathID, "evaluate_expression", sum, want, true, 0}, {mathID, "unit_convert", `{"value":1,"from_unit":"km","to_unit":"m"}`, want, true, 0},
		{mathID, "statistics_summary", `{"numbers":[1,2]}`, want, true, 0}, {mathID, "solve_equation", `{"equation":"x-1"}`, want, true, 0},
	}
}

// answers is an approver that says what it was told.
type answers struct {
	answer toolcrib.Answer
	err    error
}

func (a answers) Approve(context.Context, toolcrib.Question) (toolcrib.Answer, error) {
	return a.answer, a.err
}

// testBox has tools that do what no other does.
func testBox() toolcrib.Toolbox {
	made := func(name string, run func(ctx context.Context) (*toolcrib.Result, error)) toolcrib.Tool {
		return toolcrib.Tool{
			Spec: toolcrib.Spec{Name: name, Description: "A tool of the test.", Input: json.RawMessage(`{"type":"object"}`), Effects: toolcrib.Pure, Timeout: 50 * time.Millisecond},
			Run: func(ctx context.Context, _ *toolcrib.Env, _ json.RawMessage) (*toolcrib.Result, error) {
				return run(ctx)
			},
		}
	}
	refuse := func(code toolcrib.Code, message string) func(context.Context) (*toolcrib.Result, error) {
		return func(context.Context) (*toolcrib.Result, error) {
			return nil, &toolcrib.Error{Code: code, Message: message}
		}
	}
	return toolcrib.NewBox("odd",
		made("slow_one", func(ctx context.Context) (*toolcrib.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		made("broken_one", func(context.Context) (*toolcrib.Result, error) { panic("on fire in /tmp/x_1") }),
		made("failing_one", func(context.Context) (*toolcrib.Result, error) {
			return toolcrib.Failed("no route to 3f9a1c77 (see /etc/x_y)"), nil
		}),
		made("large_one", func(context.Context) (*toolcrib.Result, error) {
			return toolcrib.Text(strings.Repeat("x", 9<<20)), nil
		}),
		made("missing_one", refuse(toolcrib.CodeUnavailable, "the service x_y is down")),
		made("conflict_one", refuse(toolcrib.CodeConflict, "the call ID 3f9a is another's")),
		made("program_one", refuse(toolcrib.CodeDenied, "the program /usr/bin/x was not granted")),
		made("host_one", refuse(toolcrib.CodeDenied, "the host x.example was not granted; to allow it, add it to grant.hosts")),
		made("vetted_one", refuse(toolcrib.CodeInternal, "the tool ran, but its result could not be vetted and is held back")),
		made("cancelled_one", refuse(toolcrib.CodeCancelled, "cancelled by the caller while it ran")),
	)
}

// shellOn has lines judged before they run, as where no layer can be had.
func shellOn(cfg *settings.Config) {
	cfg.Toolboxes.Shell.AllowShell, cfg.Sandbox.Layers = true, false
}

func unasked(err error) func(*app.Needs) {
	return func(n *app.Needs) { n.Approver = answers{err: err} }
}

func allRefusing() []refusing {
	said := func(decision toolcrib.Decision) func(*app.Needs) {
		return func(n *app.Needs) {
			n.Approver = answers{answer: toolcrib.Answer{Decision: decision, Message: "no, /etc/x_y is mine"}}
		}
	}
	return []refusing{
		{name: "rules", set: func(cfg *settings.Config) {
			shellOn(cfg)
			cfg.Toolboxes.Web.Enabled = true
			cfg.Permissions.Deny = []string{"*"}
		}, calls: everyTool(voiced.Denied)},
		{name: "the mode", set: func(cfg *settings.Config) { cfg.Mode = "plan" }, calls: []refusal{{filesID, "write_file", written, voiced.Denied, true, 0}}},
		{name: "a question is left", calls: []refusal{{filesID, "write_file", written, voiced.PermissionNeeded, true, 0}}},
		{name: "nobody to ask", needs: func(n *app.Needs) { n.Unattended = desk.Refuse }, set: func(cfg *settings.Config) { cfg.Desk.Unattended = "refuse"; shellOn(cfg) }, calls: []refusal{
			{filesID, "write_file", written, voiced.NobodyToAsk, true, 0}, {shellID, "run_command", `{"command":"touch /x_y"}`, voiced.NobodyToAsk, true, 0},
		}},
		{name: "a person said no", needs: said(toolcrib.Deny), calls: []refusal{{filesID, "write_file", written, voiced.PersonRefused, true, 0}}},
		{name: "no answer", needs: unasked(context.DeadlineExceeded), calls: []refusal{{filesID, "write_file", written, voiced.NoAnswer, true, 0}}},
		{name: "nobody could be asked", needs: unasked(errors.New("the desk is gone")), calls: []refusal{{filesID, "write_file", written, voiced.NobodyToAsk, true, 0}}},
		{name: "paths", calls: []refusal{
			{filesID, "read_file", `{"path":"/etc/passwd"}`, voiced.Outside, false, 0}, {filesID, "write_file", `{"path":"../x","content":""}`, voiced.Outside, false, 0},
			{filesID, "read_file", `{"path":"nothing.txt"}`, voiced.NoSuchFile, false, 0}, {filesID, "read_file", `{"path":"."}`, voiced.IsFolder, false, 0},
			{filesID, "read_file", `{"path":"bytes.bin"}`, voiced.NotText, false, 0}, {filesID, "read_file", `{"path":"` + strings.Repeat("x", 5000) + `"}`, voiced.NameTooLong, false, 0},
		}},
		{name: "no directory", set: func(cfg *settings.Config) { cfg.Grant.Write, cfg.Grant.Read = nil, nil }, calls: []refusal{{filesID, "read_file", aFile, voiced.NoDirectory, true, 0}}},
		{name: "reading only", set: func(cfg *settings.Config) { cfg.Grant.Read, cfg.Grant.Write = []string{"."}, nil }, calls: []refusal{{filesID, "write_file", written, voiced.ReadOnly, false, 0}}},
		{name: "switched off", calls: []refusal{
			{shellID, "run_command", `{"command":"ls"}`, voiced.ShellOff, false, 0}, {webID, "web_search", `{"query":"q"}`, voiced.SearchOff, true, 0},
		}},
		{name: "the list of commands", set: func(cfg *settings.Config) { shellOn(cfg); cfg.Toolboxes.Shell.OnlyCommands = []string{"git status"} }, calls: []refusal{
			{shellID, "run_command", `{"command":"cat a.txt"}`, voiced.NotListed, false, 0}, {shellID, "run_command", `{"command":"git log"}`, voiced.NotListed, false, 0},
			{shellID, "run_command", `{"command":"git status; head a.txt"}`, voiced.NotListed, false, 0},
		}},
		{name: "no sandbox", set: func(cfg *settings.Config) { shellOn(cfg); cfg.Mode = "yolo" }, crib: func(c *toolcrib.Crib) { c.Sandbox = nil }, calls: []refusal{{shellID, "run_command", `{"command":"ls"}`, voiced.NoSandbox, true, 0}}},
		{name: "commands", set: func(cfg *settings.Config) { shellOn(cfg); cfg.Mode = "yolo" }, calls: []refusal{
			{shellID, "run_command", `{"command":"ls","timeout":0}`, voiced.TimedOut, false, 0}, {shellID, "run_command", `{"command":"ls","cwd":"/nowhere"}`, voiced.NoSuchFolder, false, 0},
			{shellID, "run_command", `{"command":"ls\u0000"}`, voiced.CommandFailed, false, 0},
		}},
		{name: "a host", set: func(cfg *settings.Config) { cfg.Toolboxes.Web.Enabled = true; cfg.Mode = "yolo" }, calls: []refusal{{webID, "web_search", `{"query":"q"}`, voiced.HostNotGranted, true, 0}}},
		{name: "a budget", set: func(cfg *settings.Config) {
			cfg.Bounds.Budgets = []settings.SafetyBudget{{Name: "b_1", Per: time.Hour, Calls: 1}}
		}, calls: []refusal{{mathID, "evaluate_expression", sum, voiced.Budget, true, 1}}},
		{name: "a rate", set: func(cfg *settings.Config) { cfg.Bounds.Budgets = []settings.SafetyBudget{{Name: "b_1", Rate: 0.01}} }, calls: []refusal{{mathID, "evaluate_expression", sum, voiced.Rate, true, 1}}},
		{name: "going in circles", set: func(cfg *settings.Config) {
			cfg.Bounds.Loops.Enabled, cfg.Bounds.Loops.Note, cfg.Bounds.Loops.Stop, cfg.Bounds.Loops.With = true, 2, 2, "deny"
		}, calls: []refusal{{mathID, "evaluate_expression", sum, voiced.Loop, true, 3}}},
		{name: "a secret", set: func(cfg *settings.Config) { cfg.Safety.Secrets.Arguments = "block"; cfg.Mode = "yolo" }, calls: []refusal{
			{filesID, "write_file", `{"path":"k","content":"` + "gh" + `p_0123456789abcdefghijABCDEFGHIJ012345"}`, voiced.Secret, true, 0},
		}},
		{name: "no journal", crib: func(c *toolcrib.Crib) { c.Journal = &cribtest.Memory{BeginErr: errors.New("disk x_y")} }, calls: []refusal{{mathID, "evaluate_expression", sum, voiced.NotRecorded, true, 0}}},
		{name: "arguments", calls: []refusal{
			{mathID, "evaluate_expression", `{}`, voiced.Invalid, false, 0}, {filesID, "read_file", `{"path":5}`, voiced.Invalid, false, 0}, {mathID, "evaluate_expression", `null`, voiced.Invalid, false, 0},
			{mathID, "no_such_tool", `{}`, voiced.NotFound, false, 0}, {filesID, "find_files", `{"glob":"/etc/*"}`, voiced.Invalid, false, 0},
			{mathID, "evaluate_expression", `{"expression":"1/0"}`, voiced.NotComputed, false, 0},
		}},
		{name: "tools", set: func(cfg *settings.Config) { cfg.Mode = "yolo" }, needs: func(n *app.Needs) { n.Boxes = []toolcrib.Toolbox{testBox()} }, calls: []refusal{
			{"odd", "slow_one", `{}`, voiced.TimedOut, true, 0}, {"odd", "broken_one", `{}`, voiced.Internal, false, 0}, {"odd", "failing_one", `{}`, voiced.Failed, false, 0},
			{"odd", "large_one", `{}`, voiced.TooLarge, true, 0}, {"odd", "missing_one", `{}`, voiced.Unavailable, true, 0}, {"odd", "conflict_one", `{}`, voiced.Conflict, true, 0},
			{"odd", "program_one", `{}`, voiced.NotGranted, true, 0}, {"odd", "host_one", `{}`, voiced.HostNotGranted, true, 0}, {"odd", "vetted_one", `{}`, voiced.HeldBack, true, 0},
			{"odd", "cancelled_one", `{}`, voiced.Cancelled, true, 0},
		}},
	}
}

// line is a text for a voice, and where it was met.
type line struct {
	Lang string `json:"lang"`
	Text string `json:"text"`
	from string
}

// refusedOverTheBus has a program refuse, and gives the texts for people.
func refusedOverTheBus(t *testing.T, s refusing) (list []line) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "a", "bytes.bin": "\xff\xfe"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := settings.Defaults()
	cfg.Bus.Serve, cfg.Bus.Listen, cfg.Bus.AskAround = true, "127.0.0.1:0", 0 // nobody else is there
	if s.set != nil {
		s.set(&cfg)
	}
	needs := app.Needs{State: t.TempDir(), Dir: dir, Home: t.TempDir(), Unattended: desk.Leave, Log: slog.New(slog.DiscardHandler)}
	if s.needs != nil {
		s.needs(&needs)
	}
	a, err := app.Open(t.Context(), cfg, needs)
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	defer func() { _ = a.Close(context.Background()) }() // a journal that was taken away is not closed
	if s.crib != nil {
		s.crib(a.Crib)
	}
	ctx, cancel := context.WithCancel(t.Context())
	started, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- a.ServeBus(ctx, cfg, cfg.Bus, "", func(url string) { started <- url }) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s: serving ended with %v", s.name, err)
		}
	}()
	var url string
	select {
	case url = <-started:
	case err := <-ended:
		ended <- nil
		t.Fatalf("%s: %v", s.name, err)
	}
	client, err := bus.Open(bus.ClientConfig{URL: url, Log: needs.Log})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}()
	for limit := time.Now().Add(time.Minute); ; { // until the host hears the bus
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := client.Ask(short, bus.Message{Type: "ovos.tools.get"}, bus.Answer{})
		if cancel(); err == nil {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("%s: the host is not on the bus: %v", s.name, err)
		}
	}
	for _, lang := range voiced.Languages() {
		for _, c := range s.calls {
			for range c.before { // what is done meanwhile
				askRefusal(t, client, c, lang)
			}
			got := askRefusal(t, client, c, lang)
			list = append(list, c.check(t, s.name, lang, got)...)
		}
	}
	return list
}

// askRefusal sends a call in a conversation of a language.
func askRefusal(t *testing.T, client *bus.Client, c refusal, lang string) map[string]json.RawMessage {
	t.Helper()
	m, err := bus.NewMessage("ovos.persona.tools."+c.toolbox+".call", map[string]any{"name": c.tool, "kwargs": json.RawMessage(c.kwargs)})
	if err != nil {
		t.Fatal(err)
	}
	m = m.With("session", json.RawMessage(`{"session_id":"kitchen-`+lang+`","lang":"`+lang+`-XX"}`))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	answer, err := client.Ask(ctx, m, bus.Answer{})
	if err != nil {
		t.Fatalf("%s of %s is not answered: %v", c.tool, c.toolbox, err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// check holds an answer against what a person should be told, and gives what is to be said.
func (c refusal) check(t *testing.T, scene, lang string, got map[string]json.RawMessage) []line {
	t.Helper()
	where := scene + ", " + c.tool + ", " + lang
	text := func(raw json.RawMessage) string {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return ""
		}
		return s
	}
	said := text(got["spoken"])
	if want := voiced.Say(lang, c.want); said != want {
		t.Errorf("%s: %q is said, want %q: %s", where, said, want, got)
	}
	list := []line{{lang, said, where}}
	if !c.ours {
		return list
	}
	if text(got["detail"]) == "" {
		t.Errorf("%s: the reason is not told: %s", where, got)
	}
	// It stands where the contract of the tool has a place, and else in error.
	var in struct {
		Content, Message, Stderr, Error string
		Success                         *bool
		Results                         []struct{ Title, Snippet string }
	}
	places := []string{text(got["error"])}
	if raw := got["result"]; raw != nil {
		if err := json.Unmarshal(raw, &in); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		places = []string{in.Content + in.Message + in.Stderr + in.Error}
		for _, r := range in.Results {
			places = []string{r.Snippet}
			list = append(list, line{lang, r.Title, where})
		}
		if in.Success != nil && *in.Success {
			t.Errorf("%s: it is told as done", where)
		}
	}
	placed := map[string]bool{"read_file": true, "write_file": true, "run_command": true, "web_search": true, "evaluate_expression": true, "unit_convert": true, "statistics_summary": true, "solve_equation": true}
	if places[0] != said || placed[c.tool] != (got["result"] != nil) {
		t.Errorf("%s: the sentence is not in its place: %s", where, got)
	}
	return append(list, line{lang, places[0], where})
}
