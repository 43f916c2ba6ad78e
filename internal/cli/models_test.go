package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/models"
	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// modelShop runs the commands about models with a home and a vault of its own.
type modelShop struct {
	t     *testing.T
	home  string
	env   []string
	place []models.Place
}

func openModelShop(t *testing.T) *modelShop {
	t.Helper()
	key, err := vault.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	return &modelShop{t: t, home: home, env: []string{"TOOLCRIB_HOME=" + home, "HOME=" + home, "USERPROFILE=" + home, vault.DefaultEnv + "=" + key}, place: []models.Place{}}
}

func (s *modelShop) run(in string, args ...string) (out string, status int) {
	s.t.Helper()
	var both bytes.Buffer
	c := &command{in: io.NopCloser(strings.NewReader(in)), out: &both, err: &both, dir: s.home, environ: s.env, places: s.place}
	status = c.run(s.t.Context(), append([]string{"models"}, args...))
	return both.String(), status
}

// TestModelsSet: the settings have the model, the vault has the key, and no file has it.
func TestModelsSet(t *testing.T) {
	const key = "sk-a-key-that-nobody-sees-42"
	s := openModelShop(t)
	s.env = append(s.env, "OPENAI_API_KEY="+key)
	out, status := s.run("")
	if status != 0 || !strings.Contains(out, "env:OPENAI_API_KEY") || strings.Contains(out, key) {
		t.Errorf("%d: %s", status, out)
	}
	for _, args := range [][]string{
		{"set", "gpt", "--model", "gpt-x", "--key", "env:OPENAI_API_KEY", "--price-input", "1.25", "--context", "1000"},
		{"set", "gpt", "--output-tokens", "77", "--price-output", "10"},
		{"set", "typed", "--api", "gemini", "--model", "g", "--key", "-"},
		{"set", "named", "--api", "anthropic", "--model", "c", "--key", "secret:gpt_api_key"},
	} {
		if out, status := s.run(key+"\n", args...); status != 0 || strings.Contains(out, key) {
			t.Errorf("%q: %d: %s", args, status, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(s.home, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"key: secret:gpt_api_key", "key: secret:typed_api_key", "input: 1.25", "output: 10.0", "output: 77", "context: 1000", "model: gpt-x"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if found := filesWith(t, s.home, key); found != nil {
		t.Errorf("the key is in %q", found)
	}
	for _, bad := range [][]string{
		{"set", "x", "--key", key}, {"set", "x", "--key", "env:NOWHERE"}, {"set", "x", "--base-url", "ftp://x"}, {"set", "x", "--api", "cobol"},
		{"set", "x", "--base-url", "https://user:pw@host/v1"}, {"set", "../x", "--model", "m"}, {"set", "x", "--tools", "many"}, {"set", "gpt"}, {"set", "x", "--kee=" + key}, {"remove", "nowhere"},
	} {
		if out, status := s.run("", bad...); status == 0 || strings.Contains(out, key) {
			t.Errorf("%q: %d: %s", bad, status, out)
		}
	}
	after, err := os.ReadFile(filepath.Join(s.home, "config.yaml"))
	if err != nil || string(after) != string(text) {
		t.Errorf("a mistake changed the file: %s", after)
	}
	if out, status := s.run("", "remove", "typed"); status != 0 {
		t.Errorf("%d: %s", status, out)
	}
	out, status = s.run("", "-o", "json")
	var listed struct {
		Models    []modelRow
		Variables []models.Variable
	}
	if err := json.Unmarshal([]byte(out), &listed); err != nil || status != 0 || len(listed.Models) != 2 || listed.Models[0].Key != "gpt_api_key" || len(listed.Variables) != 1 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestModelsDefault: of several models one is made the default by a command, and who takes
// it away is told.
func TestModelsDefault(t *testing.T) {
	s := openModelShop(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"set", "one", "--model", "m"}, "models try one"},
		{[]string{"set", "two", "--model", "m"}, "'toolcrib models set two --default'"},
		{[]string{"try"}, "models set NAME --default"},
		{[]string{"set", "two", "--default"}, "Written"},
		{[]string{"set", "one", "--default"}, "Written"},
		{[]string{"remove", "one"}, "it was the default"},
	} {
		if out, _ := s.run("", c.args...); !strings.Contains(out, c.want) {
			t.Errorf("%q: %s", c.args, out)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.home, "config.yaml")); err != nil || strings.Count(string(text), "\nmodel: one\n") != 1 {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestModelsFound: what answers on this machine is shown, and what is something else is
// not.
func TestModelsFound(t *testing.T) {
	s := openModelShop(t)
	u, err := url.Parse(modeltest.New(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	s.place = []models.Place{{Name: "LM Studio", Port: port, Path: "/v1/models"}, {Name: "Ollama", Port: port, Path: "/api/tags"}, {Name: "vLLM", Port: 1, Path: "/v1/models"}}
	out, status := s.run("", "list")
	if want := "toolcrib models set NAME --base-url http://127.0.0.1:" + u.Port() + "/v1 --model scripted"; status != 0 || !strings.Contains(out, "LM Studio answers") || !strings.Contains(out, want) || strings.Contains(out, "Ollama") || strings.Contains(out, "vLLM") {
		t.Errorf("%d: %s", status, out)
	}
}

// trial answers the questions of a trial as a good model would.
func trial(r modeltest.Request) modeltest.Turn {
	last := r.Messages[len(r.Messages)-1]
	switch {
	case last.Images > 0:
		return modeltest.Turn{Text: "Red."}
	case last.Role == "tool":
		return modeltest.Turn{Text: "The sum is 4,225."}
	case len(r.Tools) > 0:
		return modeltest.Turn{Calls: []modeltest.Call{{Name: r.Tools[0], Arguments: `{"a":1917,"b":2308}`}}}
	}
	return modeltest.Turn{Text: "one two three four five six seven eight nine ten"}
}

// TestModelsTry: over all three APIs, with a good model and with a poor one.
func TestModelsTry(t *testing.T) {
	good := modeltest.NewFunc(t, trial)
	poor := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		if r.Messages[0].Images > 0 {
			return modeltest.Turn{Fail: modeltest.BadRequest}
		}
		return modeltest.Turn{Text: "I cannot", Quirks: modeltest.Quirks{NoUsage: true}}
	})
	s := openModelShop(t)
	for _, api := range []string{"openai", "anthropic", "gemini"} {
		if out, status := s.run("", "set", api, "--api", api, "--base-url", good.Base(api), "--model", "scripted"); status != 0 {
			t.Fatal(out)
		}
		out, status := s.run("", "try", api, "-o", "json")
		var got models.Trial
		if err := json.Unmarshal([]byte(out), &got); err != nil || status != 0 {
			t.Fatalf("%d: %s", status, out)
		}
		if !got.Text || !got.Stream || !got.Tools || !got.Results || !got.Images || !got.Usage || got.Use.Input == 0 || got.First <= 0 {
			t.Errorf("%s: %s", api, out)
		}
	}
	if out, status := s.run("", "set", "poor", "--base-url", poor.Base("openai"), "--model", "scripted"); status != 0 {
		t.Fatal(out)
	}
	out, status := s.run("", "try", "poor")
	if status != 0 || !strings.Contains(out, "tools: react") || !strings.Contains(out, "does not say how many tokens") {
		t.Errorf("%d: %s", status, out)
	}
	if out, status := s.run("", "try"); status == 0 || !strings.Contains(out, "several") {
		t.Errorf("%d: %s", status, out)
	}
}

// TestModelsOfAProject: a project's file sets no model and does not choose one.
func TestModelsOfAProject(t *testing.T) {
	s := openModelShop(t)
	for _, file := range []string{"models:\n  theirs:\n    base_url: http://127.0.0.1:1/v1\n", "model: theirs\n"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "toolcrib.yaml"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		var both bytes.Buffer
		c := &command{in: io.NopCloser(strings.NewReader("")), out: &both, err: &both, dir: dir, environ: s.env, places: s.place}
		c.run(t.Context(), []string{"models"})
		if out := both.String(); !strings.Contains(out, "No model is set up") || !strings.Contains(out, "ignored: a project file cannot") || strings.Contains(out, "127.0.0.1:1/v1") {
			t.Errorf("%s: %s", file, out)
		}
	}
}
