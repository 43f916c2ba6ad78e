package mcphub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/model"
)

// voice is a model of ours, and what it was asked.
type voice struct {
	mu     sync.Mutex
	asked  []model.Request
	caller toolcrib.Caller
	parent string
	err    error
	stop   string
}

func (v *voice) Traits() model.Traits { return model.Traits{Name: "voice"} }
func (v *voice) Ask(_ context.Context, r model.Request, _ func(model.Delta)) (*model.Answer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = append(v.asked, r)
	if v.err != nil {
		return nil, v.err
	}
	return &model.Answer{Message: model.Text(model.Assistant, "42"), Stop: v.stop}, nil
}

func (v *voice) give(_ context.Context, name string, caller toolcrib.Caller, parent string) (model.Model, error) {
	if name != "small" {
		return nil, errors.New("there is no model " + name)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.caller, v.parent = caller, parent
	return v, nil
}

func withModel(v *voice) func(*Needs) { return func(n *Needs) { n.Model = v.give } }

func sampling(params string) map[string]mcp.Request {
	return map[string]mcp.Request{"q": {Method: mcp.MethodSample, Params: json.RawMessage(params)}}
}

const question = `{"messages":[{"role":"user","content":{"type":"text","text":"6*7?"}}],"systemPrompt":"Be terse.","maxTokens":100,"includeContext":"allServers"}`

// answering is a person who says the same to everything.
func answering(word string, seen *[]toolcrib.Question) *toolcrib.Env {
	env := &toolcrib.Env{Call: toolcrib.Call{ID: "call-1", Caller: toolcrib.Caller{Subject: "ann"}}}
	env.Ask = func(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
		*seen = append(*seen, q)
		return toolcrib.Answer{Decision: toolcrib.Allow, Message: word}, nil
	}
	return env
}

// TestSampleByOurModel: where the person set a model, it answers a server whose caller has
// none: as the caller, without tools, after the person has seen what is asked.
func TestSampleByOurModel(t *testing.T) {
	v := &voice{}
	d := house(t, t.TempDir(), &rogue{tools: echo}, Server{SamplingModel: "small"}, withModel(v), withGuard)
	var seen []toolcrib.Question
	got, err := d.box.ask(t.Context(), answering("yes", &seen), nil, sampling(question))
	if err != nil || string(got["q"]) != `{"role":"assistant","content":{"text":"42","type":"text"},"model":"small","stopReason":"endTurn"}` {
		t.Fatalf("%s %v", got["q"], err)
	}
	if len(seen) != 1 || !strings.Contains(seen[0].Text, "rogue") || !strings.Contains(seen[0].Text, "at most 100 tokens") || !strings.Contains(seen[0].Text, "6*7?") || !strings.Contains(seen[0].Text, "small") {
		t.Errorf("%+v", seen)
	}
	r := v.asked[0]
	if r.Tools != nil || r.MaxTokens != 100 || !strings.HasSuffix(r.System, "Be terse.") || !strings.HasPrefix(r.System, "The MCP server rogue") || r.Messages[0].Said() != "6*7?" {
		t.Errorf("%+v", r)
	}
	if v.caller.Subject != "ann" || v.parent != "call-1" {
		t.Errorf("%+v %s", v.caller, v.parent)
	}
	if text := string(d.box.canBeAsked(nil)); text != `{"sampling":{}}` {
		t.Error(text)
	}
	v.stop = model.StopLength
	if got, _ := d.box.ask(t.Context(), answering("", &seen), nil, sampling(question)); !strings.Contains(string(got["q"]), "maxTokens") {
		t.Errorf("%s", got["q"])
	}
}

// TestSampleIsOffUnlessSet: without the person's word no model of ours answers, and no server
// is told that one would.
func TestSampleIsOffUnlessSet(t *testing.T) {
	for name, s := range map[string]Server{"not set": {}, "denied": {SamplingModel: "small", Sampling: ConsentDeny}} {
		v := &voice{}
		d := house(t, t.TempDir(), &rogue{tools: echo}, s, withModel(v), withGuard)
		var seen []toolcrib.Question
		if got, err := d.box.ask(t.Context(), answering("yes", &seen), nil, sampling(question)); err == nil || len(v.asked)+len(seen) > 0 {
			t.Errorf("%s: %s, asked %d", name, got, len(v.asked))
		}
		if text := string(d.box.canBeAsked(nil)); text != `{}` {
			t.Errorf("%s: %s", name, text)
		}
	}
	d := house(t, t.TempDir(), &rogue{tools: echo}, Server{SamplingModel: "small"}, withGuard) // there is no model
	if _, err := d.box.ask(t.Context(), &toolcrib.Env{}, nil, sampling(question)); err == nil {
		t.Error("answered by nobody")
	}
}

// TestSampleWithoutConsent: a person who says no, or is not there, is a refusal in the words of
// the protocol, and the model is not asked.
func TestSampleWithoutConsent(t *testing.T) {
	v := &voice{}
	d := house(t, t.TempDir(), &rogue{tools: echo}, Server{SamplingModel: "small"}, withModel(v), withGuard)
	var seen []toolcrib.Question
	away := answering("", &seen)
	away.Ask = func(context.Context, toolcrib.Question) (toolcrib.Answer, error) {
		return toolcrib.Answer{}, toolcrib.ErrNobody
	}
	for name, env := range map[string]*toolcrib.Env{"no": answering("no", &seen), "away": away, "nobody": {}} {
		_, err := d.box.ask(t.Context(), env, nil, sampling(question))
		if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != codeRejected {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(v.asked) > 0 {
		t.Error("the model was asked")
	}
}

// TestSampleBounds: a server gets no more than the bounds, whatever it asks for.
func TestSampleBounds(t *testing.T) {
	v := &voice{}
	d := house(t, t.TempDir(), &rogue{tools: echo}, Server{SamplingModel: "small", Sampling: ConsentPass}, withModel(v), withGuard)
	one := `{"role":"user","content":{"type":"text","text":"x"}}`
	for name, params := range map[string]string{
		"tools":           `{"messages":[` + one + `],"maxTokens":5,"tools":[{"name":"run_command"}]}`,
		"tool choice":     `{"messages":[` + one + `],"maxTokens":5,"toolChoice":{"mode":"required"}}`,
		"no messages":     `{"messages":[],"maxTokens":5}`,
		"messages":        `{"messages":[` + strings.Repeat(one+",", sampleMessages) + one + `]}`,
		"huge":            `{"messages":[{"role":"user","content":{"type":"text","text":"` + strings.Repeat("x", sampleText+1) + `"}}]}`,
		"huge system":     `{"messages":[` + one + `],"systemPrompt":"` + strings.Repeat("x", sampleText+1) + `"}`,
		"role":            `{"messages":[{"role":"system","content":{"type":"text","text":"x"}}]}`,
		"ends with model": `{"messages":[{"role":"assistant","content":{"type":"text","text":"x"}}]}`,
		"tool result":     `{"messages":[{"role":"user","content":{"type":"tool_result","toolUseId":"1","content":[]}}]}`,
		"file":            `{"messages":[{"role":"user","content":{"type":"image","data":"AA==","mimeType":"image/svg+xml"}}]}`,
		"image":           `{"messages":[{"role":"user","content":{"type":"image","data":"AA==","mimeType":"image/png"}}]}`, // this model takes none
		"temperature":     `{"messages":[` + one + `],"temperature":99}`,
		"negative":        `{"messages":[` + one + `],"maxTokens":-1}`,
		"no object":       `[]`,
		"wrong type":      `{"messages":"all"}`,
	} {
		_, err := d.box.ask(t.Context(), &toolcrib.Env{}, nil, sampling(params))
		if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != mcp.CodeInvalidParams {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(v.asked) > 0 {
		t.Errorf("the model was asked: %+v", v.asked)
	}
	for asked, given := range map[string]int{"1000000": sampleTokens, "0": sampleTokens, "7": 7} {
		if _, err := d.box.ask(t.Context(), &toolcrib.Env{}, nil, sampling(`{"messages":[`+one+`],"maxTokens":`+asked+`}`)); err != nil {
			t.Error(err)
		}
		if got := v.asked[len(v.asked)-1].MaxTokens; got != given {
			t.Errorf("%s tokens asked for: %d", asked, got)
		}
	}
	// What a person could not be shown is not asked about.
	d = house(t, t.TempDir(), &rogue{tools: echo}, Server{SamplingModel: "small"}, withModel(v), withGuard)
	var seen []toolcrib.Question
	if _, err := d.box.ask(t.Context(), answering("yes", &seen), nil, sampling(`{"messages":[{"role":"user","content":{"type":"text","text":"`+strings.Repeat("x ", mostShown)+`"}}]}`)); err == nil || len(seen) > 0 {
		t.Errorf("%v, asked %d times", err, len(seen))
	}
}

// TestSampleFailure: why a model could not be asked is not the server's business.
func TestSampleFailure(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code int
	}{
		"service": {&model.Error{Kind: model.BadKey, Message: "key sk-123 of account 77 is bad"}, mcp.CodeInternal},
		"budget":  {&toolcrib.Error{Code: toolcrib.CodeDenied, Message: "ann has used 5 EUR"}, codeRejected},
		"late":    {fmt.Errorf("asking: %w", context.DeadlineExceeded), mcp.CodeInternal},
	} {
		v := &voice{err: c.err}
		d := house(t, t.TempDir(), &rogue{tools: echo}, Server{SamplingModel: "small", Sampling: ConsentPass}, withModel(v), withGuard)
		_, err := d.box.ask(t.Context(), &toolcrib.Env{}, nil, sampling(question))
		if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != c.code || strings.Contains(e.Message, "sk-") || strings.Contains(e.Message, "ann") {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := house(t, t.TempDir(), &rogue{tools: echo}, Server{SamplingModel: "other", Sampling: ConsentPass}, withModel(&voice{}), withGuard)
	if _, err := d.box.ask(t.Context(), &toolcrib.Env{}, nil, sampling(question)); err == nil {
		t.Error("a model that is not there answered")
	}
}

// TestSampleOfTheClientFirst: a client that has a model of its own is asked, as before.
func TestSampleOfTheClientFirst(t *testing.T) {
	v, peer := &voice{}, &hearer{}
	d := house(t, t.TempDir(), &rogue{tools: echo}, Server{SamplingModel: "small", Sampling: ConsentPass}, withModel(v), withGuard)
	if _, err := d.box.ask(t.Context(), &toolcrib.Env{}, peer, sampling(question)); err != nil || len(peer.asks) != 1 || len(v.asked) > 0 {
		t.Errorf("%v: the client %d, we %d", err, len(peer.asks), len(v.asked))
	}
}

// TestSampleLoop: a server that asks on and on is told to stop.
func TestSampleLoop(t *testing.T) {
	v := &voice{}
	r := &rogue{tools: echo}
	r.other = func(method string, say sayFunc, id, _ json.RawMessage) bool {
		if method != mcp.MethodToolsCall {
			return false
		}
		for i := range 40 {
			say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ask-%d","method":"sampling/createMessage","params":%s}`, i, question))
		}
		say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`, id))
		return true
	}
	d := house(t, t.TempDir(), r, Server{SamplingModel: "small", Sampling: ConsentPass}, withModel(v), withGuard)
	d.refresh()
	_, _ = d.call(t.Context(), "echo", `{}`, toolcrib.Caller{Subject: "ann"}) // whatever it answers
	if err := d.hub.Close(); err != nil {
		t.Error(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.asked) > asksMost {
		t.Errorf("the model was asked %d times for one call", len(v.asked))
	}
}

// FuzzSample: what a server sends breaks nothing, and what is taken keeps to the bounds.
func FuzzSample(f *testing.F) {
	f.Add([]byte(question))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"?"}]}],"maxTokens":1e9,"stopSequences":["x"]}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		r, err := sampleOf(params)
		if err != nil {
			if _, ok := errors.AsType[*mcp.Error](err); !ok {
				t.Errorf("%v", err)
			}
			return
		}
		if r.MaxTokens < 1 || r.MaxTokens > sampleTokens || len(r.Messages) == 0 || len(r.Messages) > sampleMessages || r.Tools != nil {
			t.Errorf("%+v", r)
		}
	})
}
