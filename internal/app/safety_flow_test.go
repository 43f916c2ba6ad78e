package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/hookrun"

	"github.com/toolcrib/toolcrib/internal/settings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

func TestOpenFlow(t *testing.T) {
	on := settings.SafetyInjection{Enabled: true}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := openFlow(map[string][]string{"weather": {"untrusted", "public"}}, map[string][]string{"math": {"private"}}, on, settings.DefaultFlow(), map[string]settings.SafetyHook{
		"a": {Command: []string{program}}, "b": {URL: "https://example.com/x", Phases: []string{"vet"}}, "c": {URL: "http://[::1]:1/", Phases: []string{"judge", "vet"}},
	}, flowNeeds{Own: []string{"math"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Guards) != 3 || len(s.Hooks) != 2 || len(s.Vetters) != 2 || len(s.Around) != 2 {
		t.Errorf("%+v", s)
	}
	spec := toolcrib.Spec{Box: "math", Native: "x", Effects: toolcrib.Pure}
	if l := s.Labels.OfTool(&spec); l != policy.LabelPrivate {
		t.Errorf("math has the labels %v", l)
	}
	if s, err = openFlow(nil, nil, settings.SafetyInjection{}, settings.SafetyFlow{}, nil, flowNeeds{}); err != nil || len(s.Guards)+len(s.Vetters)+len(s.Around) != 0 {
		t.Errorf("switched off: %+v, %v", s, err)
	}
}

// TestSafetyFlowSettings: the groups can be read and described, and a project
// only tightens them.
func TestSafetyFlowSettings(t *testing.T) {
	type groups struct {
		Labels    map[string][]string            `yaml:"labels" enum:"none,private,untrusted,public" doc:"d"`
		AddLabels map[string][]string            `yaml:"add_labels" enum:"private,untrusted,public" project:"add" doc:"d"`
		Injection settings.SafetyInjection       `yaml:"injection" doc:"d"`
		Flow      settings.SafetyFlow            `yaml:"flow" doc:"d"`
		Hooks     map[string]settings.SafetyHook `yaml:"hooks" doc:"d"`
	}
	file := filepath.Join(t.TempDir(), "toolcrib.yaml")
	text := "labels: {files: [none]}\nadd_labels: {files: [untrusted]}\ninjection: {enabled: false}\nflow: {enabled: false, private: ask, untrusted: allow, both: deny}\n" +
		"hooks: {evil: {command: [/bin/sh], phases: [judge]}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	defaults := groups{Injection: settings.SafetyInjection{Enabled: true}, Flow: settings.DefaultFlow()}
	defaults.Flow.Untrusted = "ask"
	loaded, err := config.Load(defaults, config.Options{Project: file})
	if err != nil {
		t.Fatal(err)
	}
	want := defaults
	want.AddLabels = map[string][]string{"files": {"untrusted"}}
	want.Flow.Private, want.Flow.Both = "ask", "deny"
	if diff := cmp.Diff(want, loaded.Value, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("a project file: %s", diff)
	}
	if loaded, err = config.Load(defaults, config.Options{User: file}); err != nil || loaded.Value.Hooks["evil"].Command[0] != "/bin/sh" || loaded.Value.Flow.Enabled {
		t.Errorf("the user's own file: %+v, %v", loaded, err)
	}
	if _, err := config.Reference(defaults); err != nil {
		t.Error(err)
	}
}

func TestOpenFlowRefuses(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flow := settings.DefaultFlow()
	for want, open := range map[string]func() (*flowSafety, error){
		"safety.labels": func() (*flowSafety, error) {
			return openFlow(map[string][]string{"files": {"privat"}}, nil, settings.SafetyInjection{}, flow, nil, flowNeeds{})
		},
		"safety.flow.both": func() (*flowSafety, error) {
			bad := flow
			bad.Both = "allow"
			return openFlow(nil, nil, settings.SafetyInjection{}, bad, nil, flowNeeds{})
		},
		"safety.flow.private": func() (*flowSafety, error) {
			bad := flow
			bad.Private = ""
			return openFlow(nil, nil, settings.SafetyInjection{}, bad, nil, flowNeeds{})
		},
	} {
		if _, err := open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for want, hook := range map[string]settings.SafetyHook{
		"neither":        {},
		"both":           {Command: []string{program}, URL: "https://example.com/"},
		"full path":      {Command: []string{"sh", "-c", "true"}},
		"no program":     {Command: []string{t.TempDir()}},
		"command:":       {Command: []string{filepath.Join(t.TempDir(), "gone")}},
		"want https":     {URL: "http://example.com/"},
		"https, or":      {URL: "http://127.0.0.1.example.com/"},
		"or http on":     {URL: "http://2130706433/"},
		"url: want":      {URL: "ftp://127.0.0.1/"},
		"without a name": {URL: "https://user:pass@example.com/"},
		"https://host":   {URL: "https:///path"},
		"tools":          {URL: "https://example.com/", Tools: []string{"group:"}},
	} {
		if _, err := openFlow(nil, nil, settings.SafetyInjection{}, flow, map[string]settings.SafetyHook{"h": hook}, flowNeeds{}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "safety.hooks.h: ") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestUnderstoodCommands: the flow guard goes by what the shell guard makes of a
// line, and by the declaration where that has no word.
func TestUnderstoodCommands(t *testing.T) {
	shell := &shellguard.Guard{AllowShell: true, Bounded: true, Options: shellguard.SystemOptions("/")}
	r := toolcrib.Review{Spec: toolcrib.Spec{Box: "shell", Native: "run_command"}, Input: json.RawMessage(`{"command":"curl http://example.com"}`)}
	for _, n := range []flowNeeds{{}, {Shell: func() *shellguard.Guard { return nil }}, {Shell: func() *shellguard.Guard { return shell }}} {
		if e := n.understood(t.Context(), r); e != 0 {
			t.Errorf("%v", e)
		}
	}
	r.Input = json.RawMessage(`{`)
	if e := (flowNeeds{Shell: func() *shellguard.Guard { return shell }}).understood(t.Context(), r); e != 0 {
		t.Errorf("an unreadable line: %v", e)
	}
}

func hookRun(t *testing.T, cfg settings.SafetyHook) hookrun.Run {
	t.Helper()
	h, err := flowNeeds{}.hook("h", cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h.Run
}

func TestCommandHook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	t.Setenv("HOOK_SECRET", "inherited")
	dir := t.TempDir()
	script := func(name, body string) []string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"/bin/sh", path, "$(touch x)"}
	}
	run := hookRun(t, settings.SafetyHook{Command: script("echo", `printf '%s|%s|%s|' "$1" "$HOOK_SECRET" "$OWN"; cat`), Env: map[string]string{"OWN": "o"}})
	if out, err := run(t.Context(), []byte("question")); err != nil || string(out) != "$(touch x)||o|question" {
		t.Errorf("%q, %v", out, err)
	}
	own := filepath.Join(dir, "own")
	h, err := flowNeeds{Hooks: own}.hook("h", settings.SafetyHook{Command: script("where", `pwd -P`)})
	if err != nil {
		t.Fatal(err)
	}
	want, err := filepath.EvalSymlinks(own)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := h.Run(t.Context(), nil); err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("it runs in %q, %v", out, err)
	}
	for name, body := range map[string]string{
		"fails":  `echo '{"decision":"allow"}'; echo oops >&2; exit 3`,
		"killed": `echo '{"decision":"allow"}'; kill -9 $$`,
		"floods": `head -c 40000000 /dev/zero; sleep 1000`,
	} {
		if out, err := hookRun(t, settings.SafetyHook{Command: script(name, body)})(t.Context(), nil); err == nil {
			t.Errorf("%s: %d bytes", name, len(out))
		}
	}
	// What a hook has started ends with its time.
	pids := filepath.Join(dir, "pid")
	run = hookRun(t, settings.SafetyHook{Command: script("hangs", `sleep 1000 & echo $! > `+pids+`; wait`)})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if text, err := os.ReadFile(pids); err == nil && strings.HasSuffix(string(text), "\n") {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, err := run(ctx, nil); err == nil {
		t.Error("a hook that was ended has answered")
	}
	gone(t, pids)
	pids = filepath.Join(dir, "pid2")
	if _, err := hookRun(t, settings.SafetyHook{Command: script("leaves", `sleep 1000 >/dev/null 2>&1 & echo $! > `+pids)})(t.Context(), nil); err != nil {
		t.Error(err)
	}
	gone(t, pids)
}

// gone waits until the process that a file names has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(text))
	for range 1000 {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return // on a system without /proc nothing is looked at
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is still there", pid)
}

func TestHTTPHook(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		elsewhere++
		fmt.Fprint(w, `{"decision":"allow"}`)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/echo":
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), body)
		case "/redirect":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/error":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"decision":"allow"}`)
		case "/flood":
			for range safety.MaxHookReply>>16 + 2 {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}
	}))
	defer server.Close()
	t.Setenv("HTTP_PROXY", other.URL)
	out, err := hookRun(t, settings.SafetyHook{URL: server.URL + "/echo", Headers: map[string]string{"Authorization": "Bearer x"}})(t.Context(), []byte("q"))
	if err != nil || string(out) != "POST application/json Bearer x q" {
		t.Errorf("%q, %v", out, err)
	}
	for _, path := range []string{"/redirect", "/error", "/flood"} {
		if out, err := hookRun(t, settings.SafetyHook{URL: server.URL + path})(t.Context(), nil); err == nil {
			t.Errorf("%s: %d bytes", path, len(out))
		}
	}
	if elsewhere > 0 {
		t.Error("a question went to somebody else")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := hookRun(t, settings.SafetyHook{URL: server.URL + "/echo"})(ctx, nil); err == nil {
		t.Error("a question was asked that nobody waits for")
	}
}
