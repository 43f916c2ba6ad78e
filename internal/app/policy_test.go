package app

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
)

// TestModeOfALayer: the machine's mode and a project's bound the user's and the
// agent's; among their own the agent's preset counts.
func TestModeOfALayer(t *testing.T) {
	of := func(mode string) settings.Config { return settings.Config{Mode: mode} }
	agents := func(c settings.Config, mode string) settings.Config {
		c.Agents = map[string]settings.Agent{"coder": {Mode: mode}}
		return c
	}
	for _, tt := range []struct {
		name  string
		l     settings.Layers
		agent string
		want  policy.Mode
	}{
		{"nothing said", settings.Layers{}, "", policy.ModeDefault},
		{"the user's", settings.Layers{User: of("yolo")}, "", policy.ModeYolo},
		{"the machine's", settings.Layers{Admin: of("plan")}, "", policy.ModePlan},
		{"the machine's bounds", settings.Layers{Admin: of("default"), User: of("yolo")}, "", policy.ModeDefault},
		{"the user may be stricter", settings.Layers{Admin: of("yolo"), User: of("plan")}, "", policy.ModePlan},
		{"a preset", settings.Layers{User: agents(of("default"), "auto-edit")}, "coder", policy.ModeAutoEdit},
		{"a preset of others", settings.Layers{User: agents(of("default"), "auto-edit")}, "other", policy.ModeDefault},
		{"a preset within the machine's", settings.Layers{Admin: of("default"), User: agents(of("default"), "yolo")}, "coder", policy.ModeDefault},
		{"a preset of the machine bounds the user's of that name", settings.Layers{Admin: agents(of("yolo"), "plan"), User: agents(of("yolo"), "")}, "coder", policy.ModePlan},
		{"a project tightens", settings.Layers{User: of("yolo"), Project: of("plan")}, "", policy.ModePlan},
		{"a project does not loosen", settings.Layers{User: of("default"), Project: of("yolo")}, "", policy.ModeDefault},
		{"a project tightens a preset", settings.Layers{User: agents(of("default"), "yolo"), Project: of("default")}, "coder", policy.ModeDefault},
		{"a project's preset is none", settings.Layers{User: of("default"), Project: agents(of(""), "yolo")}, "coder", policy.ModeDefault},
		{"an agent within what was given", settings.Layers{User: agents(of("plan"), "yolo"), Most: "plan"}, "coder", policy.ModePlan},
		{"an agent stricter than what was given", settings.Layers{User: agents(of("yolo"), "plan"), Most: "yolo"}, "coder", policy.ModePlan},
		{"nonsense was given", settings.Layers{User: of("yolo"), Most: "yes"}, "", policy.ModePlan},
		{"nonsense", settings.Layers{User: of("yes")}, "", policy.ModePlan},
	} {
		if got := tt.l.Mode(toolcrib.Call{Caller: toolcrib.Caller{Agent: tt.agent}}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestOrganisationsOwnCommands: who owns run_command owns both ways to run one.
func TestOrganisationsOwnCommands(t *testing.T) {
	l := settings.Layers{User: settings.Config{Organisations: map[string]settings.Organisation{"acme": {Tools: []string{"run_command"}}}}}
	v, err := l.Visibility(ownBoxes())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run_command", "start_command"} {
		spec := toolcrib.Entry{Spec: toolcrib.Spec{Name: name, Group: "exec"}, Native: name, Box: "shell"}
		if v.Visible(toolcrib.Caller{}, &spec) || !v.Visible(toolcrib.Caller{Organisation: "acme"}, &spec) {
			t.Errorf("%s: for others %v, for acme %v", name, v.Visible(toolcrib.Caller{}, &spec), v.Visible(toolcrib.Caller{Organisation: "acme"}, &spec))
		}
	}
}

func TestProfilesOfALayer(t *testing.T) {
	looks := toolcrib.Entry{Spec: toolcrib.Spec{Name: "read_file", Group: "fs", Effects: toolcrib.Reads}, Native: "read_file", Box: "files"}
	edits := toolcrib.Entry{Spec: toolcrib.Spec{Name: "write_file", Group: "fs", Effects: toolcrib.Reads | toolcrib.Writes}, Native: "write_file", Box: "files"}
	foreign := toolcrib.Entry{Spec: toolcrib.Spec{Name: "mcp__s__x", Group: "mcp"}, Native: "x", Box: "s"}
	l := settings.Layers{
		Admin: settings.Config{Organisations: map[string]settings.Organisation{"acme": {Tools: []string{"mcp__s"}}}},
		User: settings.Config{
			Profile:  "coding",
			Profiles: map[string]settings.Profile{"reader": {Include: []string{"group:fs"}, Exclude: []string{"effect:writes"}}},
			Agents:   map[string]settings.Agent{"r": {Profile: "reader"}, "all": {Profile: "full"}, "w": {Tools: []string{"write_file"}}},
			Tokens:   map[string]settings.Token{"ci": {EnabledTools: []string{"read_file"}}},
		},
	}
	visible := func(caller toolcrib.Caller, specs ...toolcrib.Entry) string {
		v, err := l.Visibility(ownBoxes())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range specs {
			if v.Visible(caller, &s) {
				names = append(names, s.Native)
			}
		}
		return strings.Join(names, " ")
	}
	for _, tt := range []struct {
		caller toolcrib.Caller
		want   string
	}{
		{toolcrib.Caller{}, "read_file"}, // write_file was given to w
		{toolcrib.Caller{Agent: "w"}, "read_file write_file"},
		{toolcrib.Caller{Agent: "r"}, "read_file"},
		{toolcrib.Caller{Agent: "all"}, "read_file"},
		{toolcrib.Caller{Agent: "all", Organisation: "acme"}, "read_file x"},
		{toolcrib.Caller{Agent: "all", Organisation: "other"}, "read_file"},
		{toolcrib.Caller{Agent: "w", Token: "ci"}, "read_file"},
		{toolcrib.Caller{Agent: "w", Token: "taken away"}, ""},
		{toolcrib.Caller{Agent: "nobody"}, ""},
	} {
		if got := visible(tt.caller, looks, edits, foreign); got != tt.want {
			t.Errorf("%+v sees %q, want %q", tt.caller, got, tt.want)
		}
	}
	l.Admin.Profile = "minimal"
	if got := visible(toolcrib.Caller{Agent: "w"}, looks, edits, foreign); got != "read_file" {
		t.Errorf("within the machine's profile: %q", got)
	}
	l.Admin.Profile = ""
	l.Admin.Agents = map[string]settings.Agent{"w": {Profile: "minimal"}, "owner": {Tools: []string{"read_file"}}}
	if got := visible(toolcrib.Caller{Agent: "w"}, looks, edits, foreign); got != "" {
		t.Errorf("what the machine has assigned to another, in its own profile: %q", got)
	}
	l.User.Agents["thief"] = settings.Agent{Tools: []string{"read_file"}}
	if got := visible(toolcrib.Caller{Agent: "thief"}, looks, edits, foreign); got != "" {
		t.Errorf("the user gives away what the machine has assigned: %q", got)
	}
	for _, bad := range []settings.Layers{
		{User: settings.Config{Profile: "fulll"}}, {User: settings.Config{Agents: map[string]settings.Agent{"a": {Profile: "none"}}}},
		{User: settings.Config{Tokens: map[string]settings.Token{"t": {Agent: "none"}}}}, {User: settings.Config{Profiles: map[string]settings.Profile{"full": {}}}},
		{User: settings.Config{Profiles: map[string]settings.Profile{"p": {Include: []string{"a b"}}}}}, {Admin: settings.Config{Organisations: map[string]settings.Organisation{"o": {Tools: []string{"group:"}}}}},
	} {
		if _, err := bad.Visibility(ownBoxes()); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestInvisibleIsUncallable: one rule for both.
func TestInvisibleIsUncallable(t *testing.T) {
	cfg := settings.Defaults()
	cfg.Profile, cfg.Mode = "minimal", "yolo"
	dir := t.TempDir()
	a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: dir, Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(t.Context())
	for spec := range a.Crib.Tools(toolcrib.Caller{}) {
		if !spec.Effects.ReadOnly() {
			t.Errorf("%s (%s) is in minimal", spec.Name, spec.Effects)
		}
	}
	_, err = a.Crib.Call(t.Context(), toolcrib.Call{Tool: "write_file", Input: json.RawMessage(`{"path":"x","content":"y"}`)})
	if toolcrib.CodeOf(err) != toolcrib.CodeNotFound {
		t.Errorf("an invisible tool: %v", err)
	}
	if why := a.Hidden(toolcrib.Caller{}, "write_file"); !strings.Contains(why, "minimal") {
		t.Errorf("why: %q", why)
	}
}

// loud is a log that tests read while it is written.
type loud struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *loud) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *loud) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// TestRulesAreReadAgain: a change counts without a restart, a broken one does
// not and is told.
func TestRulesAreReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	mode := func(word string) {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(word), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	mode("plan")
	read := func() Settings {
		return Settings{Files: []string{file}, Load: func(use func(settings.Config, *settings.Layers) error) error {
			word, err := os.ReadFile(file)
			cfg := settings.Defaults()
			cfg.Mode = string(word)
			if bytes.HasPrefix(word, []byte("rule ")) {
				cfg.Mode, cfg.Permissions.Allow = "default", []string{string(word[5:])}
			}
			if err != nil {
				return err
			}
			return use(cfg, nil)
		}}
	}
	log := &loud{}
	var cfg settings.Config
	err := read().Load(func(now settings.Config, _ *settings.Layers) error {
		cfg = now
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: t.TempDir(), Home: t.TempDir(), Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(t.Context())
	defer a.FollowPolicy(read)()
	decides := func(want toolcrib.Decision) {
		t.Helper()
		for range 150 {
			j, err := a.Crib.Judge(t.Context(), toolcrib.Call{Tool: "write_file", Input: json.RawMessage(`{"path":"x","content":"y"}`)})
			if err != nil {
				t.Fatal(err)
			}
			if j.Decision == want {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("it is not decided %s after a while; the log says %s", want, log)
	}
	decides(toolcrib.Deny)
	mode("auto-edit")
	decides(toolcrib.Allow)
	mode("rule write_file((")
	for range 150 {
		if a.policy.broken.Load() != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	decides(toolcrib.Allow)
	if text := log.String(); !strings.Contains(text, "level=ERROR") || !strings.Contains(text, "stay in force") {
		t.Errorf("the log says %s", text)
	}
	mode("default")
	decides(toolcrib.Ask)
	if a.policy.broken.Load() != nil {
		t.Error("what was mended is still broken")
	}
}

// TestTokens: over HTTP a caller is who its token says.
func TestTokens(t *testing.T) {
	sum := sumOf
	cfg := settings.Defaults()
	cfg.Agents = map[string]settings.Agent{"reader": {Profile: "minimal"}}
	cfg.Tokens = map[string]settings.Token{"ci": {SHA256: sum("ci-token"), Agent: "reader", Organisation: "acme"}, "ann": {SHA256: sum("ann-token")}}
	a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(t.Context())
	base, stop := serveLoopback(t, a)
	defer stop()
	connect := func(token string) (*mcp.ClientSession, error) {
		client := &http.Client{Transport: bearer(token)}
		return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
			Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: base + "/mcp", HTTPClient: client, MaxRetries: -1}, nil)
	}
	for _, bad := range []string{"", "x", "ci-token2", sum("ci-token")} {
		if s, err := connect(bad); err == nil {
			_ = s.Close()
			t.Errorf("the token %q opens a session", bad)
		}
	}
	session, err := connect("ci-token")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name == "write_file" {
			t.Error("the token's profile does not count")
		}
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_current_datetime"}); err != nil {
		t.Fatal(err)
	}
	// A token that is taken away opens nothing, also in a session that is open.
	revoked := cfg
	revoked.Tokens = map[string]settings.Token{"ann": cfg.Tokens["ann"]}
	defer func() {
		if err := a.setPolicy(revoked, nil); err != nil {
			t.Fatal(err)
		}
		if r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_current_datetime"}); err == nil && !r.IsError {
			t.Error("a token that was taken away still calls")
		}
		if s, err := connect("ci-token"); err == nil {
			_ = s.Close()
			t.Error("a token that was taken away opens a session")
		}
	}()
	records, err := a.Journal.List(t.Context(), store.Filter{Limit: 1})
	want := toolcrib.Caller{Subject: "token:ci", Token: "ci", Agent: "reader", Organisation: "acme", Frontend: "mcp-http", Client: "test 1"}
	if err != nil || len(records) != 1 {
		t.Fatal(records, err)
	}
	got := records[0].Caller
	got.Session = ""
	if got != want {
		t.Errorf("the caller is %+v, want %+v", got, want)
	}
}

// sumOf is how a token stands in the settings.
func sumOf(token string) string {
	s := sha256.Sum256([]byte(token))
	return hex.EncodeToString(s[:])
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}
