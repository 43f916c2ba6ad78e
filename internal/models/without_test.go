package models

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/modeltest"
	"github.com/toolcrib/toolcrib/model"
)

// planted is a secret of the vault that looks like nothing.
const planted = "Blaue-Katze \"7\" im Schnee"

// TestNoSecretLeaves: wherever a value of the vault stands, and however it is written, it
// is in no request.
func TestNoSecretLeaves(t *testing.T) {
	quoted, err := json.Marshal(planted)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{
		"plain": planted, "in words": "the password is " + planted + ", keep it",
		"base64": base64.StdEncoding.EncodeToString([]byte("user:" + planted)), "address": url.QueryEscape(planted), "capitals": strings.ToUpper(planted),
	}
	for name, form := range forms {
		inJSON, err := json.Marshal(map[string]string{"p": form, form: "v"})
		if err != nil {
			t.Fatal(err)
		}
		request := model.Request{
			System: "System: " + form,
			Stop:   []string{"stop", form},
			Tools:  nil,
			Messages: []model.Message{
				model.Text(model.User, form),
				{Role: model.User, Parts: []model.Part{{Text: "alt: " + form}, {Data: []byte("\x89PNG tEXt" + form), MIME: "image/png"}, {Data: []byte("\x89PNG harmless"), MIME: "image/png"}}},
				{Role: model.Assistant, Parts: []model.Part{{Text: "thinking " + form, Thought: true}, {Text: "said " + form}}, Calls: []model.ToolCall{
					{ID: "call_1", Name: "read", Arguments: inJSON}, {ID: "call_2", Name: "read", Arguments: json.RawMessage(`{"p": ` + form)},
				}, Own: json.RawMessage(`[{"type":"thinking","thinking":` + string(quoted) + `,"signature":"x"},"text","call","call"]`)},
				{Role: model.Tool, CallID: "call_1", Name: "read", Parts: []model.Part{{Text: "result " + form}}},
				{Role: model.Tool, CallID: "call_2", Name: "read", Failed: true, Parts: []model.Part{{Text: form}}},
				model.Text(model.User, "go on"),
			},
		}
		for _, api := range []string{"openai", "anthropic", "gemini"} {
			r := request
			r.Messages = append([]model.Message(nil), request.Messages...)
			r.Messages[2].By = map[string]string{"openai": "openai:127.0.0.1:scripted", "anthropic": "anthropic:scripted", "gemini": "gemini:scripted"}[api]
			r.Tools = []json.RawMessage{json.RawMessage(`{"name":"read","type":"function","function":{"name":"read","description":` + string(quoted) + `},"description":` + string(quoted) + `}`)}
			s := modeltest.New(t, modeltest.Turn{Text: "ok"})
			if _, err := open(t, s, nil).ask(t.Context(), api, r); err != nil {
				t.Fatalf("%s, %s: %v", name, api, err)
			}
			body := string(s.Requests()[0].Body)
			for _, bad := range []string{planted, string(quoted[1 : len(quoted)-1]), form, "Katze", "KATZE", "im Schnee", base64.StdEncoding.EncodeToString([]byte(planted)), base64.StdEncoding.EncodeToString([]byte("\x89PNG tEXt"))[:12], key} {
				if strings.Contains(body, bad) {
					t.Errorf("%s, %s: %q left: %s", name, api, bad, body)
				}
			}
			if !strings.Contains(body, "go on") || !strings.Contains(body, base64.StdEncoding.EncodeToString([]byte("\x89PNG harmless"))[:16]) {
				t.Errorf("%s, %s: too much was taken out: %s", name, api, body)
			}
		}
		if !strings.Contains(request.Messages[0].Parts[0].Text, form) {
			t.Error("the conversation itself was changed")
		}
	}
}
