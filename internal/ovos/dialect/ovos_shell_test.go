package dialect

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

func ovosShellTool(most time.Duration) toolcrib.Adapter {
	for _, a := range Adapters(Options{Root: "/work", MaxTimeout: most}) {
		if a.Dialect == OVOS && a.Name == "run_command" {
			return a
		}
	}
	panic("there is no run_command")
}

func TestRunCommandIn(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		max      time.Duration
	}{
		{in: `{"command":"ls","cwd":".","timeout":30}`, want: `{"command":"ls","timeout":30}`},
		{in: `{"command":"ls","cwd":"sub","timeout":300}`, want: `{"command":"ls","working_dir":"sub","timeout":120}`},
		{in: `{"command":" ls ","cwd":"/work","timeout":5}`, want: `{"command":" ls ","working_dir":"/work","timeout":1}`, max: time.Second},
		{in: `{"command":"ls","cwd":".","timeout":5}`, want: `{"command":"ls","timeout":1}`, max: 300 * time.Millisecond},
		{in: `{"command":"ls","cwd":".","timeout":1e400}`, want: `{"command":"ls","timeout":120}`},
		{in: `{"command":"ls","cwd":".","timeout":99999999999999999999}`, want: `{"command":"ls","timeout":86400}`, max: 1000 * time.Hour},
		{in: `{"command":"","cwd":".","timeout":30}`, want: `{"command":":","timeout":30}`},
		{in: `{"command":" \n","cwd":".","timeout":30}`, want: `{"command":":","timeout":30}`},
	} {
		got, err := ovosShellTool(tt.max).In(json.RawMessage(tt.in))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v", tt.in, got, err)
		}
	}
}

// What In answers for itself must come out in band.
func TestRunCommandIsAnsweredForUnrun(t *testing.T) {
	a := ovosShellTool(0)
	for in, want := range map[string]string{
		`{"command":"x","cwd":".","timeout":0}`:                     "Command timed out after 0 seconds.",
		`{"command":"x","cwd":".","timeout":-5}`:                    "Command timed out after -5 seconds.",
		`{"command":"x","cwd":".","timeout":-99999999999999999999}`: "Command timed out after -99999999999999999999 seconds.",
		`{"command":"x\u0000","cwd":".","timeout":1}`:               "Error executing command: embedded null byte",
		`{"command":"x","cwd":"a\u0000","timeout":1}`:               "Error executing command: embedded null byte",
		`{"command":"x","cwd":"","timeout":1}`:                      "Error executing command: [Errno 2] No such file or directory: ''",
	} {
		native, err := a.In(json.RawMessage(in))
		e, ok := toolcrib.AsError(err)
		if !ok {
			t.Errorf("%s: %s, %v", in, native, err)
			continue
		}
		got := a.Refused(json.RawMessage(in), e)
		if got == nil || string(got.Value) != string(notRun(want).Value) {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func TestRunCommandRefused(t *testing.T) {
	a := ovosShellTool(0)
	input := mustJSON(ovosRun{" it's  me", "a/b", "30"})
	for _, tt := range []struct {
		code          toolcrib.Code
		message, want string
	}{
		{toolcrib.CodeDenied, "shell: running commands is switched off; allow_shell: true in the configuration switches it on", "Shell execution is disabled (allow_shell=False)."},
		{toolcrib.CodeDenied, "shell: it writes", `Command not permitted by allowed_commands policy: "it's".`},
		{toolcrib.CodeDenied, "a person said no: not today", ""},
		{toolcrib.CodeDenied, "rules: run_command is denied", ""},
		{toolcrib.CodeUnavailable, "a person has to approve this, and nobody is there to be asked: shell: x", ""},
		{toolcrib.CodeUnavailable, "no sandbox is set up", ""},
		{toolcrib.CodeTimeout, "a person was asked and did not answer within 5m0s", ""},
		{toolcrib.CodeInvalid, "command: too long", ""},
		{toolcrib.CodeInternal, "the tool broke down", ""},
	} {
		got := a.Refused(input, &toolcrib.Error{Code: tt.code, Tool: "run_command", Message: tt.message})
		switch {
		case tt.want == "" && got != nil:
			t.Errorf("%s: %s", tt.message, got)
		case tt.want != "" && (got == nil || string(got.Value) != string(notRun(tt.want).Value)):
			t.Errorf("%s: %v", tt.message, got)
		}
	}
	if got := a.Refused(mustJSON(ovosRun{"", ".", "30"}), &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "shell: x"}); !strings.Contains(string(got.Value), "policy: ''.") {
		t.Errorf("an empty command: %s", got)
	}
}

func TestRunCommandOut(t *testing.T) {
	a := ovosShellTool(20 * time.Second)
	input := mustJSON(ovosRun{"x", "sub", "30"})
	for _, tt := range []struct {
		native *toolcrib.Result
		want   ovosRunAnswer
	}{
		{&toolcrib.Result{Value: json.RawMessage(`{"stdout":"a\r\nb\r","stderr":"c\r\n","exit_code":0}`)}, ovosRunAnswer{"a\nb\n", "c\n", 0, true}},
		{&toolcrib.Result{Value: json.RawMessage(`{"exit_code":137}`)}, ovosRunAnswer{Returncode: 137}},
		{&toolcrib.Result{Value: json.RawMessage(`{"exit_code":137,"signal":"SIGKILL"}`)}, ovosRunAnswer{Returncode: -9}},
		{&toolcrib.Result{Value: json.RawMessage(`{"exit_code":-15,"signal":"SIGTERM"}`)}, ovosRunAnswer{Returncode: -15}},
		{&toolcrib.Result{Value: json.RawMessage(`{"stdout":"part","exit_code":-9,"timed_out":true}`)}, ovosRunAnswer{Stderr: "Command timed out after 20 seconds.", Returncode: -1}},
		{toolcrib.Failed("this call was not granted any program to run; allow the shell in the configuration"), ovosRunAnswer{Stderr: shellDisabled, Returncode: -1}},
		{toolcrib.Failed("no such file or directory: \"sub\""), ovosRunAnswer{Stderr: "Error executing command: [Errno 2] No such file or directory: 'sub'", Returncode: -1}},
		{toolcrib.Failed(`"sub" is not a directory`), ovosRunAnswer{Stderr: "Error executing command: [Errno 20] Not a directory: 'sub'", Returncode: -1}},
		{toolcrib.Failed("it broke"), ovosRunAnswer{Stderr: "Error executing command: it broke", Returncode: -1}},
	} {
		got, err := a.Out(input, tt.native)
		if err != nil || string(got.Value) != string(mustJSON(tt.want)) || got.Failed {
			t.Errorf("%s: %v, %v", tt.native, got, err)
		}
	}
}
