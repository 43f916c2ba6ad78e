package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/model/internal/suite"
)

func TestSuite(t *testing.T) {
	suite.Adapter{API: "anthropic", New: func(e model.Endpoint) (model.Model, error) { return New(e) }, Thoughts: true}.Run(t)
}

// TestCache: what is kept is marked at no more than four places, and only if it is wanted.
func TestCache(t *testing.T) {
	s := modeltest.New(t, modeltest.Turn{Text: "ok", Redacted: "c2VjcmV0"}, modeltest.Turn{Text: "ok"})
	m, err := New(model.Endpoint{BaseURL: s.Base("anthropic") + "/v1", Model: "scripted"})
	if err != nil {
		t.Fatal(err)
	}
	r := model.Request{System: "s", Tools: []json.RawMessage{json.RawMessage(`{"name":"a","input_schema":{}}`), json.RawMessage(`{"name":"b","input_schema":{}}`)}, Cache: true}
	for range 5 {
		r.Messages = append(r.Messages, model.Text(model.User, "question"), model.Text(model.Assistant, "answer"))
	}
	r.Messages = append(r.Messages, model.Text(model.User, "last"))
	a, err := m.Ask(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Cache, r.Messages = false, append(r.Messages, a.Message, model.Text(model.User, "go on"))
	if _, err := m.Ask(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	first, second := string(s.Requests()[0].Body), string(s.Requests()[1].Body)
	if n := strings.Count(first, "cache_control"); n != 4 || strings.Count(second, "cache_control") != 0 {
		t.Errorf("%d marks: %s", n, first)
	}
	if !strings.Contains(second, `{"data":"c2VjcmV0","type":"redacted_thinking"}`) || s.Requests()[0].Path != "/v1/messages" {
		t.Errorf("%s", second)
	}
}
