package guards

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

func TestOpenFlow(t *testing.T) {
	on := settings.SafetyInjection{Enabled: true}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenFlow(map[string][]string{"weather": {"untrusted", "public"}}, map[string][]string{"math": {"private"}}, on, settings.DefaultFlow(), map[string]settings.SafetyHook{
		"a": {Command: []string{program}}, "b": {URL: "https://example.com/x", Phases: []string{"vet"}}, "c": {URL: "http://[::1]:1/", Phases: []string{"judge", "vet"}},
	}, FlowNeeds{Own: []string{"math"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Guards) != 3 || len(s.Hooks) != 2 || len(s.Vetters) != 2 || len(s.Around) != 2 {
		t.Errorf("%+v", s)
	}
	spec := toolcrib.Entry{Spec: toolcrib.Spec{Effects: toolcrib.Pure}, Box: "math", Native: "x"}
	if l := s.Labels.OfTool(&spec); l != policy.LabelPrivate {
		t.Errorf("math has the labels %v", l)
	}
	if s, err = OpenFlow(nil, nil, settings.SafetyInjection{}, settings.SafetyFlow{}, nil, FlowNeeds{}); err != nil || len(s.Guards) != 0 || len(s.Vetters) != 1 || len(s.Around) != 1 || s.Watched == nil { // it only watches
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
	for want, open := range map[string]func() (*Flow, error){
		"safety.labels": func() (*Flow, error) {
			return OpenFlow(map[string][]string{"files": {"privat"}}, nil, settings.SafetyInjection{}, flow, nil, FlowNeeds{})
		},
		"safety.flow.both": func() (*Flow, error) {
			bad := flow
			bad.Both = "allow"
			return OpenFlow(nil, nil, settings.SafetyInjection{}, bad, nil, FlowNeeds{})
		},
		"safety.flow.private": func() (*Flow, error) {
			bad := flow
			bad.Private = ""
			return OpenFlow(nil, nil, settings.SafetyInjection{}, bad, nil, FlowNeeds{})
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
		if _, err := OpenFlow(nil, nil, settings.SafetyInjection{}, flow, map[string]settings.SafetyHook{"h": hook}, FlowNeeds{}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "safety.hooks.h: ") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestUnderstoodCommands: the flow guard goes by what the shell guard makes of a
// line, and by the declaration where that has no word.
func TestUnderstoodCommands(t *testing.T) {
	shell := &shellguard.Guard{AllowShell: true, Bounded: true, Options: shellguard.SystemOptions("/")}
	r := toolcrib.Review{Spec: toolcrib.Entry{Box: "shell", Native: "run_command"}, Input: json.RawMessage(`{"command":"curl http://example.com"}`)}
	for _, n := range []FlowNeeds{{}, {Shell: func() *shellguard.Guard { return nil }}, {Shell: func() *shellguard.Guard { return shell }}} {
		if e := n.Understood(t.Context(), r); e != 0 {
			t.Errorf("%v", e)
		}
	}
	r.Input = json.RawMessage(`{`)
	if e := (FlowNeeds{Shell: func() *shellguard.Guard { return shell }}).Understood(t.Context(), r); e != 0 {
		t.Errorf("an unreadable line: %v", e)
	}
}
