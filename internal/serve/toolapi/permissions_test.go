package toolapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// guardFunc is a guard of one function.
type guardFunc func(toolcrib.Review) *toolcrib.Verdict

func (g guardFunc) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	return g(r), nil
}

// TestPermissions: what would become of a call is told, for its own caller, and
// nothing becomes of it.
func TestPermissions(t *testing.T) {
	d := newDesk(t)
	d.crib.Guards = append(d.crib.Guards, guardFunc(func(r toolcrib.Review) *toolcrib.Verdict {
		v := &toolcrib.Verdict{Guard: "mode", Rule: "default", Reason: "it may destroy\nsomething", Decision: toolcrib.Ask}
		switch {
		case r.Call.Caller.Subject == "bob":
			return &toolcrib.Verdict{Guard: "rules", Reason: "not for bob"}
		case r.Spec.Name == "risky":
			return v
		}
		return &toolcrib.Verdict{Guard: "eyes", Reason: "only a note", Decision: toolcrib.Ask, Note: true}
	}))
	const allowed, blocked, asked = `"is_allowed":true,"is_blocked":false,"needs_approval":false`, `"is_allowed":false,"is_blocked":true,"needs_approval":false`, `"is_allowed":false,"is_blocked":false,"needs_approval":true`
	for _, c := range []struct {
		who, body string
		status    int
		wants     []string
	}{
		{"ann", `{"tool":"say","args":{"name":"hi"}}`, 200, []string{`"tool":"say"`, `"decision":"allow"`, allowed}},
		{"ann", `{"tool":"risky","args":{}}`, 200, []string{`"decision":"ask"`, asked, `{"guard":"mode","rule":"default","reason":"it may destroy; something"}`}},
		{"ann", `{"tool":"risky"}`, 200, []string{asked}},
		{"ann", `{"tool":"risky","args":null}`, 200, []string{asked}},
		{"bob", `{"tool":"say","args":{"name":"hi"}}`, 200, []string{`"decision":"deny"`, blocked, "not for bob"}},
		{"ann", `{"tool":"nobody","args":{}}`, 200, []string{blocked, `"code":"not_found"`}},
		{"ann", `{"tool":"say","args":{"name":3}}`, 200, []string{blocked, `"code":"invalid"`, `"path":"name"`}},
		{"ann", `{"tool":"say","args":[]}`, 400, []string{"args is no object"}},
		{"ann", `{"tool":"say","tool":"risky","args":{}}`, 400, []string{"every reader"}},
		{"ann", `{"tool":"say","args":{"name":"a","name":"b"}}`, 400, []string{"every reader"}},
		{"ann", `{"tool":"say","caller":"bob"}`, 400, []string{"want {"}},
		{"ann", `{"args":{}}`, 400, []string{"tool is missing"}},
		{"ann", `[]`, 400, nil}, {"ann", ``, 400, nil}, {"ann", `{`, 400, nil}, {"ann", `{"tool":"say"} x`, 400, nil}, {"ann", `{"tool":1}`, 400, nil},
		{"ann", `{"tool":"say","args":{"name":"` + strings.Repeat("x", 2000) + `"}}`, 413, nil},
		{"", `{"tool":"say"}`, 401, nil}, {"eve", `{"tool":"say"}`, 401, nil},
	} {
		status, text, _ := d.send(t, c.who, http.MethodPost, PermissionsPath, c.body)
		if status != c.status || !json.Valid([]byte(text)) || strings.Contains(text, "only a note") {
			t.Errorf("%s %.60s: %d %s", c.who, c.body, status, text)
		}
		for _, want := range c.wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s %.60s: %s lacks %s", c.who, c.body, text, want)
			}
		}
	}
	if status, _, header := d.send(t, "ann", http.MethodGet, PermissionsPath, ""); status != 405 || header.Get("Allow") != "POST" {
		t.Errorf("%d %v", status, header)
	}
	if d.runs != 0 {
		t.Errorf("%d calls were made", d.runs)
	}
	journal, ok := d.crib.Journal.(interface{ Records() []toolcrib.Record })
	if ok && len(journal.Records()) > 0 {
		t.Error("a judgement was recorded as a call")
	}
}

// TestPermissionsAreClean: a guard that quotes the input does not give a secret away,
// and one that breaks down denies.
func TestPermissionsAreClean(t *testing.T) {
	d := newDesk(t)
	d.crib.RedactText = func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") }
	d.crib.Guards = append(d.crib.Guards, guardFunc(func(r toolcrib.Review) *toolcrib.Verdict {
		if strings.Contains(string(r.Input), "panic") {
			panic(errors.New("at /home/ann/hunter2"))
		}
		return &toolcrib.Verdict{Guard: "g", Reason: "it says " + string(r.Input)}
	}))
	for _, body := range []string{`{"tool":"say","args":{"name":"hunter2"}}`, `{"tool":"say","args":{"name":"panic hunter2"}}`, `{"tool":"say","args":{"hunter2":1}}`, `{"tool":"plain","args":{"how":"hunter2"}}`} {
		status, text, _ := d.send(t, "ann", http.MethodPost, PermissionsPath, body)
		if status != 200 || strings.Contains(text, "hunter2") || !strings.Contains(text, `"is_blocked":true`) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
}

// FuzzPermission: whatever is sent, it is one call or none.
func FuzzPermission(f *testing.F) {
	for _, seed := range []string{`{"tool":"a","args":{}}`, `{"tool":"a"}`, `{"Tool":"a"}`, `{"tool":"a","args":[1]}`, `null`, `{"tool":""}`, `{"tool":"a","args":{"x":1,"x":2}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		call, err := readPermission([]byte(text))
		if err == nil && (call.Tool == "" || !json.Valid(call.Input)) {
			t.Errorf("%q: %+v", text, call)
		}
	})
}

// TestPermissionsTellNoSecret: a secret that stands in a rule is in no answer.
func TestPermissionsTellNoSecret(t *testing.T) {
	const secret = "Kirschbaum-0815"
	d := newDesk(t)
	d.crib.RedactText = func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
	d.crib.Guards = append(d.crib.Guards, guardFunc(func(toolcrib.Review) *toolcrib.Verdict {
		return &toolcrib.Verdict{Guard: "rules", Rule: "user: deny say(" + secret + ")", Reason: "a rule says deny: say(" + secret + ")"}
	}))
	if status, text, _ := d.send(t, "ann", http.MethodPost, PermissionsPath, `{"tool":"say","args":{"name":"hi"}}`); status != 200 || strings.Contains(text, secret) || !strings.Contains(text, "say([redacted])") {
		t.Errorf("%d %s", status, text)
	}
}

// TestEndlessJudgementIsBounded: a guard that never comes back keeps neither a request
// nor more than a few goroutines, and the next guard that does answer is heard.
func TestEndlessJudgementIsBounded(t *testing.T) {
	d := newDeskWithin(t, 50*time.Millisecond)
	var judged atomic.Int32
	stuck := make(chan struct{})
	d.crib.Guards = append(d.crib.Guards, guardFunc(func(r toolcrib.Review) *toolcrib.Verdict {
		if strings.Contains(string(r.Input), "endless") {
			judged.Add(1)
			<-stuck
		}
		return nil
	}))
	for range 2 * maxJudgements {
		status, text, _ := d.send(t, "ann", http.MethodPost, PermissionsPath, `{"tool":"say","args":{"name":"endless"}}`)
		if status != http.StatusGatewayTimeout && status != http.StatusServiceUnavailable || strings.Contains(text, "is_allowed") {
			t.Errorf("%d %s", status, text)
		}
	}
	if n := judged.Load(); n > maxJudgements {
		t.Errorf("%d judgements at a time", n)
	}
	close(stuck)
	for deadline := time.Now().Add(time.Minute); ; {
		status, text, _ := d.send(t, "ann", http.MethodPost, PermissionsPath, `{"tool":"say","args":{"name":"hi"}}`)
		if status == 200 && strings.Contains(text, `"is_allowed":true`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d %s", status, text)
		}
	}
}

// TestPermissionsAskTheWiring: who knows more than the guards, such as what the handles
// of a call refuse, is asked.
func TestPermissionsAskTheWiring(t *testing.T) {
	c := Config{Judge: func(_ context.Context, call toolcrib.Call) (toolcrib.Judgement, error) {
		return toolcrib.Judgement{Decision: toolcrib.Deny, Verdicts: []toolcrib.Verdict{{Guard: "grant", Reason: "it is protected"}}}, nil
	}, Crib: &toolcrib.Crib{}, judging: make(chan struct{}, 1)}
	p, err := c.judged(httptest.NewRequest(http.MethodPost, PermissionsPath, nil), toolcrib.Call{Tool: "read_file"})
	if err != nil || !p.Blocked || len(p.Reasons) != 1 || p.Reasons[0].Guard != "grant" {
		t.Errorf("%+v %v", p, err)
	}
}
