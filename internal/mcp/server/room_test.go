package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// fill takes all places of a room but some.
func fill(t *testing.T, r *httpapi.Limiter, most int64, but int) (empty func()) {
	t.Helper()
	for range most - int64(but) {
		if !r.Enter(most) {
			t.Fatal("it is full already")
		}
	}
	return func() {
		for range most - int64(but) {
			r.Leave()
		}
	}
}

// What a caller has open at once is bounded, and an answer that a call waits for
// gets through all the same.
func TestOpenRequestsAreBounded(t *testing.T) {
	s, _ := newStore(t, asker())
	r := newRaw(t, s)
	session := r.session(`{"elicitation":{}}`)
	next, _ := r.events(t.Context(), "POST", session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asker","arguments":{"a":{"method":"elicitation/create","params":{"message":"a?"}}}}}`)
	question := next()
	for question.Method != mcp.MethodElicit {
		question = next()
	}
	empty := fill(t, &s.requests, maxRequests, 1) // and the one that waits
	full := func(a *answer, id string) {
		t.Helper()
		if a.status != 503 || a.code() != mcp.CodeInternal || string(a.last().ID) != id || a.header.Get("Retry-After") == "" {
			t.Errorf("%d %s", a.status, a.text)
		}
	}
	full(r.modern("tools/list", ""), "7")
	full(r.send("POST", session, `{"jsonrpc":"2.0","id":8,"method":"ping"}`), "8")
	if a := r.send("POST", session, `{"jsonrpc":"2.0","id":`+string(question.ID)+`,"result":{"action":"decline"}}`); a.status != 202 {
		t.Errorf("%d %s", a.status, a.text)
	}
	if m := next(); !strings.Contains(string(m.Result), "decline") {
		t.Errorf("%+v", m)
	}
	empty()
	empty = fill(t, &s.reading, maxReading, 0)
	full(r.modern("tools/list", ""), "null")
	empty()
	if a := r.modern("tools/list", ""); a.status != 200 {
		t.Errorf("%d %s", a.status, a.text)
	}
	eventually(t, "places are lost", func() bool { return s.requests.Used() == 0 && s.reading.Used() == 0 })
}

// So are those that listen, and they keep nothing of what they were asked with.
func TestListensAreBounded(t *testing.T) {
	s, _ := newStore(t)
	r := newRaw(t, s)
	empty := fill(t, &s.listens, maxListens, 1)
	h, body := modern(mcp.MethodListen, `{}`, `,"notifications":{"toolsListChanged":true}`)
	ctx, cancel := context.WithCancel(t.Context())
	next, _ := r.events(ctx, "POST", h, body)
	next()
	if a := r.send("POST", h, body); a.status != 503 || a.code() != mcp.CodeInternal || string(a.last().ID) != "7" {
		t.Errorf("%d %s", a.status, a.text)
	}
	empty()
	cancel()
	eventually(t, "places are lost", func() bool { return s.listens.Used() == 0 })
	long, _ := json.Marshal([]string{strings.Repeat("x", maxURIs+1)})
	if a := r.modern(mcp.MethodListen, `,"notifications":{"resourceSubscriptions":`+string(long)+`}`); a.code() != mcp.CodeInvalidParams {
		t.Errorf("%d %s", a.status, a.text)
	}
	m, err := mcp.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	p, err := readParams(m.Params)
	if err != nil {
		t.Fatal(err)
	}
	end := errors.New("enough")
	w := probe{told: func() error {
		if m.Params != nil || p.Meta.Capabilities != nil || p.version() != "" {
			t.Error("what the request said is kept")
		}
		return end
	}}
	if _, err := s.answerModern(t.Context(), m, p, w); !errors.Is(err, end) {
		t.Error(err)
	}
}

// A resource that a client may not subscribe to is not told of either, whoever
// else is.
func TestOnlyWhatWasAgreedIsTold(t *testing.T) {
	s, p := newStore(t)
	r := newRaw(t, s)
	h, body := modern(mcp.MethodListen, `{}`, `,"notifications":{"promptsListChanged":true,"resourceSubscriptions":["other://x","test://a"]}`)
	next, _ := r.events(t.Context(), "POST", h, body)
	next()
	p.tell(mcp.NotifyResource, `{"uri":"other://x"}`)
	p.tell(mcp.NotifyResource, `{"uri":"test://a"}`)
	if m := next(); !strings.Contains(string(m.Params), "test://a") {
		t.Errorf("%s %s", m.Method, m.Params)
	}
}

// probe is a way to a client that looks around when it is told something.
type probe struct {
	noReply
	told func() error
}

func (p probe) send(context.Context, *mcp.Message) error { return p.told() }
