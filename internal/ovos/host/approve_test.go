package host_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
)

const (
	askType    = "toolcrib.approval.request"
	answerType = "toolcrib.approval.response"
	secret     = "a secret of both sides"
)

// asking is a room where a person is asked about everything.
func asking(t testing.TB, approvals host.Approvals) (r *room, d *desk.Desk, url string) {
	t.Helper()
	d, err := desk.New(desk.Config{
		Store: &desk.Memory{}, RedactJSON: func(m json.RawMessage) json.RawMessage { return m }, RedactText: func(s string) string { return s },
	})
	if err != nil {
		t.Fatal(err)
	}
	r = furnish(t, setup{guards: []toolcrib.Guard{cribtest.Ask("it is a voice")}})
	r.crib.Approver = d
	cfg := r.config()
	if approvals.Desk = d; approvals == (host.Approvals{Desk: d}) {
		approvals.Desk = nil
	}
	cfg.Approvals = approvals
	url, _ = serve(t, cfg)
	return r, d, url
}

func mac(parts ...string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(h.Sum(nil))
}

func answerText(t testing.TB, id, choice, message, proof string) string {
	t.Helper()
	data := map[string]string{"id": id, "choice": choice, "message": message, "proof": proof}
	for key, value := range data {
		if value == "" {
			delete(data, key)
		}
	}
	return text(t, data)
}

// want sends a call that has to be asked about, and gives the question.
func (s *socket) want(mark string) (question map[string]any) {
	s.t.Helper()
	s.send(request(mathCall, `{"name":"evaluate_expression","kwargs":{"expression":"`+mark+`"}}`, `"mark":"`+mark+`","source":"satellite","session":{"session_id":"kitchen"}`))
	f := s.next(askType, mark)
	if f.Context["destination"] != "satellite" || f.Context["session"].(map[string]any)["session_id"] != "kitchen" {
		s.t.Errorf("the question goes to %v", f.Context)
	}
	return f.Data
}

func TestPeopleOnTheBusAnswerWithAProof(t *testing.T) {
	_, _, url := asking(t, host.Approvals{Secret: secret})
	s := ready(t, url)
	q := s.want("1+1")
	id, shown := q["id"].(string), q["text"].(string)
	if !strings.Contains(shown, "evaluate_expression") || !strings.Contains(shown, "1+1") || q["toolbox_id"] != "ovos-math-tools" {
		t.Errorf("the question is %v", q)
	}
	if q["seal"] != mac(askType, id, "once,session,deny", shown) {
		t.Errorf("the seal does not cover what is shown: %v", q)
	}
	for name, bad := range map[string]string{
		"no proof":                 answerText(t, id, "once", "", ""),
		"a proof of nothing":       answerText(t, id, "once", "", "00"),
		"a proof for another word": answerText(t, id, "once", "", mac(answerType, id, "deny", "")),
		"a proof for another one":  answerText(t, id, "once", "", mac(answerType, "q-other", "once", "")),
		"a seal as a proof":        answerText(t, id, "once", "", q["seal"].(string)),
		"another message":          answerText(t, id, "once", "and more", mac(answerType, id, "once", "")),
		"lines in the choice":      answerText(t, id, "once\n", "", mac(answerType, id, "once", "\n")),
		"always, which is too far": answerText(t, id, "always", "", mac(answerType, id, "always", "")),
		"edit":                     answerText(t, id, "edit", "", mac(answerType, id, "edit", "")),
		"no such question":         answerText(t, "q-none", "once", "", mac(answerType, "q-none", "once", "")),
		"a number as a choice":     `{"id":"` + id + `","choice":1}`,
		"nothing":                  `{}`,
	} {
		if got := s.ask(answerType, bad).Data; got["error"] == nil || got["state"] == "allowed" {
			t.Errorf("%s: %v", name, got)
		}
	}
	// The word that it was taken, that it is settled and the call's answer come
	// in any order.
	s.send(request(answerType, answerText(t, id, "once", "", mac(answerType, id, "once", "")), `"mark":"good"`))
	var taken, settled, answered bool
	for !taken || !settled || !answered {
		switch f := s.anyOf(answerType+".response", mathCall+".response", "toolcrib.approval.settled"); {
		case f.Context["mark"] == "good":
			taken = true
			if f.Data["state"] != "allowed" || f.Data["error"] != nil {
				t.Errorf("a good answer: %v", f.Data)
			}
		case f.Type == mathCall+".response":
			answered = true
			if f.Data["result"].(map[string]any)["result"] != 2.0 {
				t.Errorf("the call got %v", f.Data)
			}
		case f.Data["id"] == id && f.Data["state"] == "allowed":
			settled = true
		}
	}
	if got := s.ask(answerType, answerText(t, id, "deny", "", mac(answerType, id, "deny", ""))).Data; got["error"] == nil || got["state"] != "allowed" {
		t.Errorf("the second answer: %v", got)
	}

	q = s.want("2+2")
	id = q["id"].(string)
	s.send(request(answerType, answerText(t, id, "deny", "not now", mac(answerType, id, "deny", "not now")), `"mark":"no"`))
	if got := s.next(mathCall+".response", "2+2").Data; !strings.Contains(got["detail"].(string), "not now") {
		t.Errorf("a refused call got %v", got)
	}
}

// anyOf waits for a message of one of the types.
func (s *socket) anyOf(types ...string) frame {
	s.t.Helper()
	for {
		raw, err := s.read()
		if err != nil {
			s.t.Fatal(err)
		}
		var f frame
		if json.Unmarshal(raw, &f) == nil && slices.Contains(types, f.Type) {
			return f
		}
	}
}

// TestWhoeverCallsDoesNotApprove: without a proof a client of the bus may refuse
// a call, and not allow it.
func TestWhoeverCallsDoesNotApprove(t *testing.T) {
	r, d, url := asking(t, host.Approvals{Anyone: true})
	s := ready(t, url)
	q := s.want("3+3")
	id := q["id"].(string)
	if q["seal"] != nil || text(t, q["choices"]) != `["deny"]` {
		t.Errorf("the question is %v", q)
	}
	for _, choice := range []string{"once", "allow", "allow_once", "session", "project", "always", "edit"} {
		if got := s.ask(answerType, answerText(t, id, choice, "", "")).Data; got["error"] == nil || got["state"] == "allowed" {
			t.Errorf("%s without a proof: %v", choice, got)
		}
	}
	s.send(request(answerType, answerText(t, id, "deny", "not now", ""), `"mark":"no","source":"panel"`))
	if got := s.next(mathCall+".response", "3+3").Data; !strings.Contains(got["detail"].(string), "not now") {
		t.Errorf("a refused call got %v", got)
	}
	if by := r.journal.Records()[0].ApprovedBy; strings.Contains(by, "bus") {
		t.Errorf("approved by %q", by)
	}

	// What others ask is neither shown nor answered on the bus.
	done := make(chan error, 1)
	events, stop, err := d.Watch(t.Context(), desk.Screen{Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	go func() {
		_, err := r.crib.Call(t.Context(), toolcrib.Call{Tool: "get_current_datetime", Caller: toolcrib.Caller{Subject: "ann", Frontend: "cli"}})
		done <- err
	}()
	var private desk.Question
	for private.Tool != "get_current_datetime" {
		private = (<-events).Question
	}
	if got := s.ask(answerType, answerText(t, private.ID, "once", "", "")).Data; got["error"] == nil || got["state"] != nil {
		t.Errorf("the bus answered a question of the command line: %v", got)
	}
	if _, err := d.Answer(t.Context(), private.ID, desk.Reply{Choice: desk.AllowOnce}, "ann"); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestNobodyIsAskedOnTheBusUnlessWanted(t *testing.T) {
	_, _, url := asking(t, host.Approvals{})
	s := ready(t, url)
	got := s.ask(mathCall, `{"name":"evaluate_expression","kwargs":{"expression":"1"}}`).Data
	if detail, ok := got["detail"].(string); !ok || !strings.Contains(detail, "unavailable") || !strings.Contains(detail, "nobody") {
		t.Errorf("a call that has to be asked about got %v", got)
	}
}

// TestQuestionsAreShownAgain: who comes back with the bus has missed them.
func TestQuestionsAreShownAgain(t *testing.T) {
	b := newBus(t)
	d, err := desk.New(desk.Config{
		Store: &desk.Memory{}, RedactJSON: func(m json.RawMessage) json.RawMessage { return m }, RedactText: func(s string) string { return s },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := furnish(t, setup{guards: []toolcrib.Guard{cribtest.Ask("it is a voice")}})
	r.crib.Approver = d
	cfg := r.config()
	cfg.Serve, cfg.Bus = nil, bus.ClientConfig{URL: b.url, BackoffMin: time.Second, BackoffMax: time.Second}
	cfg.Approvals = host.Approvals{Desk: d, Secret: secret}
	serve(t, cfg)
	id := ready(t, b.url).want("4+4")["id"].(string)
	var s *socket
	for shown, tries := false, 0; !shown; tries++ {
		if tries == 10 {
			t.Fatal("the question is not shown again")
		}
		b.stop()
		b.start()
		s = connect(t, b.url) // sooner than the host, which waits for half a second at least
		for {
			raw, err := s.readWithin(3 * time.Second)
			if err != nil {
				break // the host was sooner this time
			}
			var f frame
			if json.Unmarshal(raw, &f) == nil && f.Type == askType && f.Data["id"] == id && f.Context["mark"] == "4+4" {
				shown = true
				break
			}
		}
	}
	s.send(request(answerType, answerText(t, id, "once", "", mac(answerType, id, "once", "")), `"mark":"yes"`))
	if got := s.next(mathCall+".response", "4+4").Data; got["result"] == nil {
		t.Errorf("the call got %v", got)
	}
}
