package conformance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/modeltest"
)

// chatPackages has the openai SDK, and a persona of OpenVoiceOS with its OpenAI plugin.
const chatPackages = "testdata/chat/requirements.txt"

const chatToken = "phone-phone-phone"

// arithmetic is a model that has everything calculated by a tool, and lamps switched by whoever
// has one.
func arithmetic(r modeltest.Request) modeltest.Turn {
	results := r.Results()
	switch first := r.Messages[0].Text; {
	case len(results) > 0 && strings.Contains(first, "lamp"):
		return modeltest.Turn{Text: "The lamp: " + results[0]}
	case len(results) > 0 && strings.Contains(first, "Write"):
		return modeltest.Turn{Text: "It said: " + results[0]}
	case len(results) > 0:
		var value struct{ Result float64 }
		if json.Unmarshal([]byte(results[0]), &value) != nil {
			return modeltest.Turn{Text: "It said: " + results[0]}
		}
		return modeltest.Turn{Text: fmt.Sprintf("It is %g.", value.Result)}
	case strings.Contains(first, "lamp"):
		return modeltest.Turn{Calls: []modeltest.Call{{Name: "lamp", Arguments: `{"on":true}`}}}
	case strings.Contains(first, "Write"):
		return modeltest.Turn{Calls: []modeltest.Call{{Name: "write_file", Arguments: `{"path":"x","content":"y"}`}}}
	}
	return modeltest.Turn{Text: "Let me see.", Calls: []modeltest.Call{{Name: "evaluate_expression", Arguments: `{"expression":"6*7"}`}}}
}

// chatServer is a Toolcrib with a scripted model behind it, and the base of its chat.
func chatServer(t *testing.T, m *modeltest.Server, more string) string {
	t.Helper()
	url := gateway(t, fmt.Sprintf(`models: {scripted: {base_url: %q, model: scripted}}
tokens: {phone: {sha256: %x, profile: minimal}}
agents: {coder: {instructions: You write programs.}}
%s`, m.Base("openai"), sha256.Sum256([]byte(chatToken)), more))
	return strings.TrimSuffix(url, "/mcp") + "/v1"
}

// chatClients makes sure that they are there.
func chatClients(t *testing.T) environment {
	t.Helper()
	e, err := installBeside(t.Context(), genuine(t).base, "chat", chatPackages)
	if err != nil {
		t.Fatalf("installing the clients of the chat from PyPI: %v", err)
	}
	return e
}

// python runs a script of testdata and reads what it says.
func python(t *testing.T, e environment, into any, script string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.python, append([]string{filepath.Join("testdata", "chat", script)}, args...)...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CACHE_HOME="+home, "NO_PROXY=127.0.0.1,localhost")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", script, err, out, &said)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n")) // OpenVoiceOS logs to standard output
	if err := json.Unmarshal(lines[len(lines)-1], into); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// TestGenuineOpenAI: OpenAI's own SDK takes every answer, whole and in pieces; the tools that it
// does not know of ran on the server.
func TestGenuineOpenAI(t *testing.T) {
	e := chatClients(t)
	m := modeltest.NewFunc(t, arithmetic)
	base := chatServer(t, m, "")
	var seen map[string]any
	python(t, e, &seen, "sdk.py", base, chatToken, "scripted")
	want := map[string]any{
		"models":           []any{"toolcrib", "scripted"},
		"whole":            []any{"It is 42.", "stop", 30.0, "chat.completion"},
		"stream":           []any{"Let me see.\n\nIt is 42.", []any{"stop"}, 30.0},
		"helper":           "Let me see.\n\nIt is 42.",
		"called":           []any{"tool_calls", "lamp", map[string]any{"on": true}},
		"after":            "The lamp: It is on.",
		"called_in_stream": []any{"lamp", map[string]any{"on": true}},
		"events":           []any{"tool_call evaluate_expression", "tool_result evaluate_expression"},
		"refused": map[string]any{
			"model": []any{"NotFoundError", 404.0, "model", "model_not_found"},
			"two":   []any{"BadRequestError", 400.0, "n", nil},
			"token": []any{"AuthenticationError", 401.0, nil, "unauthorized"},
		},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
	for _, r := range m.Requests() {
		for _, tool := range r.Tools {
			if tool == "write_file" || tool == "run_command" {
				t.Errorf("a token of the profile minimal is shown %s", tool)
			}
		}
	}
}

// TestGenuinePersona: a voice assistant that knows nothing of tools gives an answer that needed
// one, by the plugin that its people use for OpenAI.
func TestGenuinePersona(t *testing.T) {
	e := chatClients(t)
	m := modeltest.NewFunc(t, arithmetic)
	base := chatServer(t, m, "")
	var seen struct {
		Whole  string
		Stream []string
	}
	python(t, e, &seen, "persona.py", base, chatToken, "toolcrib")
	if seen.Whole != "It is 42." || strings.Join(seen.Stream, " ") != "Let me see. It is 42." {
		t.Errorf("%+v", seen)
	}
	if n := len(m.Requests()); n != 4 {
		t.Errorf("the model was asked %d times", n)
	}
}
