package models

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
)

// TestNoSecretInPieces: a value that stands in several parts, or in several messages one
// after another, is taken out of all of them. Some APIs get the parts as one text.
func TestNoSecretInPieces(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(planted))
	calls := model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c", Name: "n", Arguments: json.RawMessage("{}")}, {ID: "d", Name: "n", Arguments: json.RawMessage("{}")}}}
	result := func(id string, parts ...model.Part) model.Message {
		return model.Message{Role: model.Tool, CallID: id, Name: "n", Parts: parts}
	}
	for name, messages := range map[string][]model.Message{
		"parts":   {{Role: model.User, Parts: []model.Part{{Text: "harmless " + planted[:13]}, {Text: planted[13:] + " words"}}}},
		"three":   {{Role: model.User, Parts: []model.Part{{Text: "harmless " + planted[:4]}, {Text: planted[4:15]}, {Text: planted[15:] + " words"}}}},
		"base64":  {{Role: model.User, Parts: []model.Part{{Text: "harmless " + encoded[:10]}, {Text: encoded[10:]}}}},
		"thought": {{Role: model.User, Parts: []model.Part{{Text: "harmless " + planted[:13]}, {Text: "hm", Thought: true}, {Text: planted[13:]}}}},
		"result":  {calls, result("c", model.Part{Text: "harmless " + planted[:13]}, model.Part{Text: planted[13:]}), result("d")},
		"results": {calls, result("c", model.Part{Text: "harmless " + planted[:13]}), result("d", model.Part{Text: planted[13:]})},
		"users":   {model.Text(model.User, "harmless "+planted[:13]), model.Text(model.User, planted[13:])},
	} {
		for _, api := range []string{"openai", "anthropic", "gemini"} {
			s := modeltest.New(t, modeltest.Turn{Text: "ok"})
			if _, err := open(t, s, nil).ask(t.Context(), api, model.Request{Messages: messages}); err != nil {
				t.Fatalf("%s, %s: %v", name, api, err)
			}
			body := string(s.Requests()[0].Body)
			for _, bad := range []string{"Kat", "Schnee", "Blau", encoded[:9], encoded[12:20]} {
				if strings.Contains(body, bad) {
					t.Errorf("%s, %s: %q left: %s", name, api, bad, body)
				}
			}
			if !strings.Contains(body, "harmless ") {
				t.Errorf("%s, %s: too much was taken out: %s", name, api, body)
			}
		}
	}
}

// TestKeyIsNotSaid: a service knows its key, and may say it in whatever form. What it says
// of errors and of itself goes to screens, clients and logs.
func TestKeyIsNotSaid(t *testing.T) {
	var escaped strings.Builder
	for _, r := range key {
		fmt.Fprintf(&escaped, `\u%04x`, r)
	}
	for name, form := range map[string]string{
		"plain": key, "address": url.QueryEscape(key), "base64": base64.StdEncoding.EncodeToString([]byte(key)), "capitals": strings.ToUpper(key),
		"spaced": strings.Join(strings.Split(key, ""), " "), "at the cut": strings.Repeat("x", 582) + key, "escaped": escaped.String(),
	} {
		for _, body := range []string{`{"error":{"message":"bad key ` + form + `"}}`, "no JSON: bad key " + form} {
			s := modeltest.New(t, modeltest.Turn{Status: 400, Body: body})
			r := open(t, s, nil)
			_, err := r.ask(t.Context(), "openai", hello())
			if err == nil {
				t.Fatal("no error")
			}
			for _, bad := range []string{key, form, key[:6], strings.ToUpper(key)[:8], escaped.String()[:24], "s k - k e y"} {
				if strings.Contains(err.Error(), bad) || strings.Contains(string(r.journal.list[0].Result), bad) {
					t.Errorf("%s: %q is told: %v, %s", name, bad, err, r.journal.list[0].Result)
				}
			}
		}
	}
	s := modeltest.New(t, modeltest.Turn{Text: "ok", Model: "x-" + key})
	a, err := open(t, s, nil).ask(t.Context(), "openai", hello())
	if err != nil || strings.Contains(a.Model, key) {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestBudgetHoldsAtOnce: requests at the same time find no more room than one after
// another, and what was only planned is given back.
func TestBudgetHoldsAtOnce(t *testing.T) {
	for _, limit := range []safety.BudgetLimit{{Name: "tokens", Tokens: 3000, Per: time.Hour}, {Name: "money", Money: 0.025, Per: time.Hour}} {
		budget, err := safety.NewBudget([]safety.BudgetLimit{limit}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		const many = 40
		leave := make(chan struct{})
		turns := make([]modeltest.Turn, many+2)
		for i := range turns {
			turns[i] = modeltest.Turn{Text: "ok", Usage: modeltest.Usage{Input: 10, Output: 10}}
			if i < 3 {
				turns[i].Wait = leave
			}
		}
		s := modeltest.New(t, turns...)
		r := open(t, s, func(_ *settings.Config, n *Needs) {
			n.Guards, n.Around = []toolcrib.Guard{budget}, []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool{budget.Around}
		})
		refused := make(chan struct{}, many)
		var all sync.WaitGroup
		for range many {
			all.Go(func() {
				if _, err := r.ask(context.WithoutCancel(t.Context()), "openai", hello()); err != nil {
					refused <- struct{}{}
				}
			})
		}
		for range many - 3 { // a thousand tokens are held ready for each answer
			select {
			case <-refused:
			case <-time.After(time.Minute):
				t.Fatalf("%s: %d requests were sent at once", limit.Name, len(s.Requests()))
			}
		}
		close(leave)
		all.Wait()
		if n := len(s.Requests()); n != 3 || len(refused) != 0 {
			t.Errorf("%s: %d requests were sent at once, %d more refused", limit.Name, n, len(refused))
		}
		for range 2 { // they used little, so there is room
			if _, err := r.ask(t.Context(), "openai", hello()); err != nil {
				t.Errorf("%s: %v", limit.Name, err)
			}
		}
	}
}

// TestKeyIsNotReadable: a key goes over no connection that others can read.
func TestKeyIsNotReadable(t *testing.T) {
	for address, fine := range map[string]bool{
		"https://models.example.com/v1": true, "http://127.0.0.1:11434/v1": true, "http://localhost:1/v1": true, "http://[::1]:1/v1": true, "http://192.168.1.5/v1": true,
		"http://gpu-box:8000/v1": true, "http://gpu.local/v1": true, "http://10.1.2.3/v1": true, "http://100.100.1.1/v1": true, "http://[fd00::1]/v1": true, "http://[::ffff:10.0.0.1]/v1": true,
		"http://models.example.com/v1": false, "http://203.0.113.8/v1": false, "http://[2001:db8::1]/v1": false, "HTTP://Models.Example.com./v1": false,
		"http://local.example.com/v1": false, "http://127.0.0.1.example.com/v1": false, "http://3405803784/v1": false, "http://0xcb.113.8/v1": false, "http://[::ffff:203.0.113.8]/v1": false,
	} {
		err := Check("m", settings.Model{BaseURL: address, Model: "m", Key: "secret:model_key"})
		if (err == nil) != fine {
			t.Errorf("%s: %v", address, err)
		}
		if err := Check("m", settings.Model{BaseURL: address, Model: "m"}); err != nil {
			t.Errorf("%s without a key: %v", address, err)
		}
	}
}
