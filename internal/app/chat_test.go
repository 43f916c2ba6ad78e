package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
)

// chatApp is a program with a scripted model, tokens and presets.
func chatApp(t *testing.T, m *modeltest.Server, change func(*settings.Config)) (*App, func(token, method, path, body string) (int, string)) {
	t.Helper()
	cfg := settings.Defaults()
	cfg.Models = map[string]settings.Model{"small": {BaseURL: m.Base("openai"), Model: "scripted"}, "big": {BaseURL: m.Base("openai"), Model: "large"}}
	cfg.Model = "small"
	cfg.Agents = map[string]settings.Agent{"coder": {Instructions: "You write programs.", Mode: "yolo"}, "clerk": {Model: "small", Instructions: "You file."}}
	cfg.Tokens = map[string]settings.Token{}
	for name, token := range map[string]settings.Token{
		"plain": {}, "min": {Profile: "minimal", Agents: []string{"coder"}}, "chooser": {Agents: []string{"coder"}}, "clerk": {Agent: "clerk"},
	} {
		sum := sha256.Sum256([]byte(name))
		token.SHA256 = hex.EncodeToString(sum[:])
		cfg.Tokens[name] = token
	}
	if change != nil {
		change(&cfg)
	}
	a, err := Open(t.Context(), cfg, Needs{State: t.TempDir(), Dir: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close(context.Background()) })
	api, err := a.newAPI("test")
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(api)
	t.Cleanup(func() { web.Close(); api.Close() })
	return a, func(token, method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, web.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if token == "own" {
			if token, err = httpapi.OwnToken(a.state); err != nil {
				t.Fatal(err)
			}
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
}

// TestChatModels: a token is listed, and gets, the models and presets that are for it.
func TestChatModels(t *testing.T) {
	m := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn { return modeltest.Turn{Text: r.Model + ": " + r.System} })
	_, send := chatApp(t, m, nil)
	every := []string{"toolcrib", "small", "big", "agent/coder", "agent/clerk", "agent/", "agent/nobody", "agent/../clerk", "agent/coder/../clerk", "ask_model", "scripted"}
	for token, want := range map[string][]string{
		"own":     {"toolcrib", "agent/clerk", "agent/coder", "big", "small"},
		"plain":   {"toolcrib", "big", "small"},
		"chooser": {"toolcrib", "agent/coder", "big", "small"},
		"clerk":   {"toolcrib", "agent/clerk"},
	} {
		_, text := send(token, http.MethodGet, "/v1/models", "")
		var list struct{ Data []struct{ ID string } }
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err, text)
		}
		var got []string
		for _, m := range list.Data {
			got = append(got, m.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", token, got)
		}
		for _, name := range every {
			status, text := send(token, http.MethodPost, "/v1/chat/completions", `{"model":"`+name+`","messages":[{"role":"user","content":"hello"}]}`)
			if listed := slices.Contains(want, name); listed != (status == 200) || !listed && status != 404 {
				t.Errorf("%s names %s: %d %s", token, name, status, text)
			}
		}
	}
	if _, text := send("own", http.MethodPost, "/v1/chat/completions", `{"model":"agent/coder","messages":[{"role":"user","content":"hello"}]}`); !strings.Contains(text, "scripted: You write programs.") {
		t.Error(text)
	}
	if _, text := send("plain", http.MethodPost, "/v1/chat/completions", `{"model":"big","messages":[{"role":"user","content":"hello"}]}`); !strings.Contains(text, "large: ") {
		t.Error(text)
	}
}

// TestChatGoverned: a token of the profile minimal gets no tool that writes, whatever preset it
// chooses; what ran is in the journal as its caller's, and so is every request to the model.
func TestChatGoverned(t *testing.T) {
	m := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		if results := r.Results(); len(results) > 0 {
			return modeltest.Turn{Text: strings.Join(results, " | ")}
		}
		return modeltest.Turn{Calls: []modeltest.Call{
			{Name: "evaluate_expression", Arguments: `{"expression":"6*7"}`},
			{Name: "write_file", Arguments: `{"path":"x.txt","content":"y"}`},
			{Name: "ask_model", Arguments: `{"model":"big","host":"127.0.0.1"}`},
		}}
	})
	a, send := chatApp(t, m, nil)
	status, text := send("min", http.MethodPost, "/v1/chat/completions", `{"model":"agent/coder","messages":[{"role":"user","content":"hello"}]}`)
	if status != 200 || !strings.Contains(text, "42") {
		t.Fatalf("%d %s", status, text)
	}
	if _, err := os.Stat(filepath.Join(a.reach.Base, "x.txt")); err == nil {
		t.Error("the file was written")
	}
	for _, r := range m.Requests() {
		if slices.Contains(r.Tools, "write_file") || slices.Contains(r.Tools, "ask_model") {
			t.Errorf("shown: %v", r.Tools)
		}
	}
	if n := len(m.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	reader, err := ReadJournal(t.Context(), settings.Defaults(), Needs{State: a.state})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	records, err := reader.List(t.Context(), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, r := range records {
		ran[r.Tool+" "+string(r.Outcome)]++
		if r.Caller.Token != "min" || r.Caller.Agent != "coder" || !strings.HasPrefix(r.Caller.Session, "chat-") || r.Caller.Frontend != APIFrontend {
			t.Errorf("%s is a call of %+v", r.Tool, r.Caller)
		}
	}
	if ran["ask_model done"] != 2 || ran["ask_model not_found"] != 1 || ran["evaluate_expression done"] != 1 || ran["write_file not_found"] != 1 {
		t.Errorf("%v", ran)
	}
}

// TestChatBudgetAtOnce: requests of one conversation at the same time share the budget of the
// preset, so that nobody has more by asking twice.
func TestChatBudgetAtOnce(t *testing.T) {
	add := modeltest.Call{Name: "evaluate_expression", Arguments: `{"expression":"1+1"}`}
	var begun sync.WaitGroup
	begun.Add(2)
	m := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		if results := r.Results(); len(results) > 0 {
			return modeltest.Turn{Text: strings.Join(results, " | ")}
		}
		begun.Done()
		begun.Wait() // both are at work
		return modeltest.Turn{Calls: []modeltest.Call{add, add}}
	})
	_, send := chatApp(t, m, func(cfg *settings.Config) {
		coder := cfg.Agents["coder"]
		coder.Budget.Calls = 2
		cfg.Agents["coder"] = coder
	})
	var all sync.WaitGroup
	var made atomic.Int32
	for range 2 {
		all.Go(func() {
			_, text := send("own", http.MethodPost, "/v1/chat/completions", `{"model":"agent/coder","messages":[{"role":"user","content":"hello"}]}`)
			made.Add(int32(strings.Count(text, `\"result\":2`)))
		})
	}
	all.Wait()
	if made.Load() != 2 {
		t.Errorf("%d calls were made, the budget is 2", made.Load())
	}
}

// TestChatBudget: the budget of a preset holds for one request, and counts anew for the next.
func TestChatBudget(t *testing.T) {
	add := modeltest.Call{Name: "evaluate_expression", Arguments: `{"expression":"1+1"}`}
	m := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		if results := r.Results(); len(results) > 0 {
			return modeltest.Turn{Text: strings.Join(results, " | ")}
		}
		return modeltest.Turn{Calls: []modeltest.Call{add, add, add}}
	})
	_, send := chatApp(t, m, func(cfg *settings.Config) {
		coder := cfg.Agents["coder"]
		coder.Budget.Calls = 2
		cfg.Agents["coder"] = coder
	})
	for range 2 {
		_, text := send("own", http.MethodPost, "/v1/chat/completions", `{"model":"agent/coder","messages":[{"role":"user","content":"hello"}]}`)
		if strings.Count(text, `\"result\":2`) != 2 || !strings.Contains(text, "has made its 2 calls") {
			t.Error(text)
		}
	}
}

// TestChatAsks: what has to be approved is asked at the desk, and refused when nobody answers;
// the model is told so.
func TestChatAsks(t *testing.T) {
	m := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		if results := r.Results(); len(results) > 0 {
			return modeltest.Turn{Text: strings.Join(results, " | ")}
		}
		return modeltest.Turn{Calls: []modeltest.Call{{Name: "write_file", Arguments: `{"path":"x.txt","content":"y"}`}}}
	})
	a, send := chatApp(t, m, func(cfg *settings.Config) { cfg.Desk.Unattended, cfg.Desk.Wait = "await", time.Second })
	_, text := send("plain", http.MethodPost, "/v1/chat/completions", `{"model":"toolcrib","messages":[{"role":"user","content":"hello"}]}`)
	asked, err := a.Desk.Questions(t.Context(), desk.Filter{})
	if err != nil || len(asked) != 1 || asked[0].Caller.Token != "plain" || asked[0].Tool != "write_file" {
		t.Errorf("%+v %v: %s", asked, err, text)
	}
	if _, err := os.Stat(filepath.Join(a.reach.Base, "x.txt")); err == nil {
		t.Error("the file was written")
	}
	if !strings.Contains(text, "finish_reason\":\"stop") {
		t.Error(text)
	}
}

// TestChatWithoutModel: where no model is set up, that is said, and how to.
func TestChatWithoutModel(t *testing.T) {
	m := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Turn { return modeltest.Turn{Text: "x"} })
	_, send := chatApp(t, m, func(cfg *settings.Config) { cfg.Models, cfg.Model, cfg.Agents = nil, "", nil; cfg.Tokens = nil })
	status, text := send("own", http.MethodPost, "/v1/chat/completions", `{"model":"toolcrib","messages":[{"role":"user","content":"hello"}]}`)
	if status != 503 || !strings.Contains(text, "toolcrib models set") {
		t.Errorf("%d %s", status, text)
	}
	if _, text := send("own", http.MethodGet, "/v1/models", ""); !strings.Contains(text, `"data":[]`) {
		t.Error(text)
	}
}

// TestSkillsHaveABrain: with a model, skills are carried out by it, as the caller; without, the
// tool is not there.
func TestSkillsHaveABrain(t *testing.T) {
	m := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn {
		return modeltest.Turn{Text: r.System + "|" + r.Messages[0].Text}
	})
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "haiku"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "haiku", "SKILL.md"), []byte("---\nname: haiku\ndescription: Write poems.\n---\nThree lines.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a, _ := chatApp(t, m, func(cfg *settings.Config) {
		cfg.Mode = "yolo"
		cfg.Toolboxes.Skill.Paths = []string{dir}
	})
	result, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "run_skill", Input: json.RawMessage(`{"skill":"haiku","task":"Autumn.","context":"Rain."}`), Caller: toolcrib.Caller{Subject: "ann"}})
	if err != nil || result.Failed {
		t.Fatalf("%+v %v", result, err)
	}
	var out struct {
		Result    string
		SkillUsed string `json:"skill_used"`
	}
	if err := json.Unmarshal(result.Value, &out); err != nil || out.Result != "Three lines.|Autumn.\n\nContext: Rain." || out.SkillUsed != "haiku" {
		t.Errorf("%s %v", result.Value, err)
	}
	if r := m.Requests()[0]; len(r.Tools) != 0 || len(r.Messages) != 1 {
		t.Errorf("%+v", r)
	}
	a, _ = chatApp(t, m, func(cfg *settings.Config) {
		cfg.Models, cfg.Model, cfg.Agents, cfg.Tokens = nil, "", nil, nil
		cfg.Toolboxes.Skill.Paths = []string{dir}
	})
	if _, ok := a.Crib.Tool(toolcrib.Caller{}, "run_skill"); ok {
		t.Error("run_skill is there without a model")
	}
}
