package safety

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/policy"
)

func answers(text string) func(context.Context, []byte) ([]byte, error) {
	return func(context.Context, []byte) ([]byte, error) { return []byte(text), nil }
}

func TestHookJudges(t *testing.T) {
	for _, c := range []struct {
		reply, reason string
		decision      toolcrib.Decision
	}{
		{`{"decision":"deny","reason":"not\n on Sundays\u001b[2J"}`, `not on Sundays[U+001B][2J`, isDeny},
		{`{"decision":"ask"}`, "it gave no reason", isAsk},
		{"\n {\"reason\":\"ok\",\"decision\":\"allow\"} \n", "ok", isAllow},
	} {
		h := &Hook{Name: "sunday", Run: answers(c.reply)}
		want := &toolcrib.Verdict{Guard: "hook sunday", Decision: c.decision, Reason: c.reason, Note: c.decision == isAllow}
		if diff := cmp.Diff(want, judgement(t, h, call(fetch(), "s", "1"))); diff != "" {
			t.Errorf("%s: %s", c.reply, diff)
		}
	}
	// Its allow lifts nothing, and allows nothing by itself.
	h := &Hook{Name: "kind", Run: answers(`{"decision":"allow"}`)}
	v := judgement(t, h, call(fetch(), "s", "1"))
	if d, _ := cribtest.Decide([]toolcrib.Verdict{*v}); d != isDeny {
		t.Error("a hook alone allowed a call")
	}
	if d, _ := cribtest.Decide([]toolcrib.Verdict{*v, {Decision: isAsk, Guard: "mode"}}); d != isAsk {
		t.Error("a hook lifted a question")
	}
}

// badReplies is what counts as no answer to either question.
func badReplies() []string {
	return []string{
		"", "null", "{}", "true", `"allow"`, "[]", `{"decision":null}`, `{"decision":""}`, `{"decision":"ALLOW"}`, `{"decision":"allow "}`, `{"decision":1}`,
		`{"decision":"allow","extra":1}`, `{"Decision":"allow"}`, `{"decision":"deny","Decision":"allow"}`, `{"decision":"deny","decision":"allow"}`,
		`{"decision":"allow"}{"decision":"deny"}`, `{"decision":"allow"} x`, `{"decision":"allow"`, `allow`, `{"decision":"allow","reason":5}`,
		`{"decision":"allow","result":{}}`, `{"result":null}`, `{"result":5}`, `{"result":{"content":[{"type":"text"}],"extra":1}}`, `{"result":{"content":[{"type":"html","text":"x"}]}}`,
		`{"result":{},"result":{}}`, `{"result":{"value":}}`, `{"decision":"allow","reason":"` + strings.Repeat("x", 1<<20) + `"}`, "\x00", `{"decision":"all\u00f6w"}`,
	}
}

func TestHookFailsClosed(t *testing.T) {
	runs := map[string]func(context.Context, []byte) ([]byte, error){
		"nothing to run": nil,
		"error": func(context.Context, []byte) ([]byte, error) {
			return []byte(`{"decision":"allow"}`), errors.New("exit status 1")
		},
		"panic": func(context.Context, []byte) ([]byte, error) { panic("x") },
		"never": func(ctx context.Context, _ []byte) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() },
		"late": func(ctx context.Context, _ []byte) ([]byte, error) {
			<-ctx.Done()
			return []byte(`{"decision":"allow"}`), nil
		},
		"deaf":      func(context.Context, []byte) ([]byte, error) { select {} },
		"late deny": func(ctx context.Context, _ []byte) ([]byte, error) { <-ctx.Done(); return []byte(`{"result":{}}`), nil },
	}
	for _, reply := range badReplies() {
		runs[reply[:min(len(reply), 80)]] = answers(reply)
	}
	for name, run := range runs {
		heard := 0
		h := &Hook{Name: "h", Run: run, Timeout: 20 * time.Millisecond, Report: func(context.Context, toolcrib.Review, error) { heard++ }}
		if name != "" && strings.ContainsAny(name[:1], "{[\"") {
			h.Timeout = time.Minute // these answer at once
		}
		v := judgement(t, h, call(fetch(), "s", "1"))
		if v == nil || v.Decision != isDeny || v.Note || v.Rule != "failed" {
			t.Errorf("%q: judged %+v", name, v)
		}
		out, err := h.Vet(t.Context(), call(fetch(), "s", "1"), toolcrib.Text("secret"))
		if e, ok := toolcrib.AsError(err); out != nil || !ok || e.Code != toolcrib.CodeInternal || strings.Contains(e.Message, "secret") {
			t.Errorf("%q: vetted %+v, %v", name, out, err)
		}
		if heard != 2 {
			t.Errorf("%q: %d of 2 failures were reported", name, heard)
		}
	}
}

func TestHookVets(t *testing.T) {
	given := toolcrib.Failed("secret")
	h := &Hook{Name: "h", Run: answers(`{"result":{"content":[{"type":"text","text":"***"}],"value":{"a":1},"failed":false}}`)}
	out := vet(t, h, call(fetch(), "s", "1"), given)
	want := &toolcrib.Result{Content: toolcrib.Text("***").Content, Value: json.RawMessage(`{"a":1}`), Failed: true}
	if diff := cmp.Diff(want, out, cmpopts.IgnoreUnexported(toolcrib.Result{})); diff != "" {
		t.Errorf("a failed result stays failed: %s", diff)
	}
	h.Run = answers(`{"decision":"deny","reason":"<|x|> too much"}`)
	_, err := h.Vet(t.Context(), call(fetch(), "s", "1"), given)
	if e, ok := toolcrib.AsError(err); !ok || e.Code != toolcrib.CodeDenied || !strings.HasSuffix(e.Message, `hook h: <\|x|> too much`) {
		t.Errorf("%v", err)
	}
	h.Run = answers(`{"decision":"ask"}`)
	if _, err := h.Vet(t.Context(), call(fetch(), "s", "1"), given); err == nil {
		t.Error("a question about a result was taken")
	}
}

func TestHookRequest(t *testing.T) {
	var got []byte
	h := &Hook{Name: "h", Run: func(_ context.Context, request []byte) ([]byte, error) {
		got = request
		return []byte(`{"decision":"deny"}`), nil
	}}
	r := call(readFile(), "s", "c1")
	r.Call.Parent, r.Input = "p", json.RawMessage(`{"path":"a"}`)
	judgement(t, h, r)
	const spec = `"spec":{"name":"read_file","effects":"reads","group":"fs","box":"files","native":"read_file"}`
	const about = `"call":{"id":"c1","tool":"read_file","parent":"p","caller":{"subject":"ann","session":"s"}},` + spec + `,"input":{"path":"a"}`
	if want := `{"version":1,"phase":"judge",` + about + `}`; string(got) != want {
		t.Errorf("%s", got)
	}
	r.Unfit = []toolcrib.FieldError{{Path: "path", Rule: "type", Message: "path has another type"}}
	judgement(t, h, r)
	if want := `{"version":1,"phase":"judge",` + about + `,"unfit":[{"path":"path","rule":"type","message":"path has another type"}]}`; string(got) != want {
		t.Errorf("%s", got)
	}
	r.Unfit = nil
	if _, err := h.Vet(t.Context(), r, toolcrib.Text("x")); err == nil {
		t.Error("not held back")
	}
	if want := `{"version":1,"phase":"vet",` + about + `,"result":{"content":[{"type":"text","text":"x"}]}}`; string(got) != want {
		t.Errorf("%s", got)
	}
}

func TestHookTools(t *testing.T) {
	tools, err := policy.ParseSelectors([]string{"group:web", "read_*"})
	if err != nil {
		t.Fatal(err)
	}
	h := &Hook{Name: "h", Run: answers("nonsense"), Tools: tools}
	for spec, concerned := range map[string]bool{"web/fetch": true, "files/read_file": true, "evil/read_all": true, "math/sum": false} {
		box, name, _ := strings.Cut(spec, "/")
		r := call(tool(box, name, box, reads), "s", "1")
		_, err := h.Vet(t.Context(), r, toolcrib.Text("x"))
		if got := judgement(t, h, r) != nil; got != concerned || (err != nil) != concerned {
			t.Errorf("%s: judged %v, vetted %v", spec, got, err)
		}
	}
}

func FuzzHookReply(f *testing.F) {
	for _, s := range append(badReplies(), `{"decision":"allow","reason":"x"}`, `{"result":{"content":[{"type":"text","text":"a"}],"value":[1]}}`, `{"decision":"deny"}`) {
		if len(s) < 1000 {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := decodeHook("judge", []byte(text), 100); err == nil {
			var plain map[string]any
			if json.Unmarshal([]byte(text), &plain) != nil || fmt.Sprint(plain["decision"]) != r.Decision.String() {
				t.Fatalf("%q was read as %v", text, r.Decision)
			}
			if bad := forbidden.FindString(r.reason()); bad != "" {
				t.Fatalf("%q gave the reason %q", text, r.reason())
			}
		}
		if r, err := decodeHook("vet", []byte(text), 100); err == nil && r.Result == nil && *r.Decision != toolcrib.Deny {
			t.Fatalf("%q was read as %+v", text, r)
		}
	})
}
