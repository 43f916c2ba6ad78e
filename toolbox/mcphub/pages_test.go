package mcphub

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/mcp"
)

// TestPagesOfAnError: pages that an error has a client open are questions of the
// server, and are held to the same.
func TestPagesOfAnError(t *testing.T) {
	said := func(data string) *mcp.Error {
		return &mcp.Error{Code: mcp.CodeOpenPages, Message: "log in first", Data: json.RawMessage(data)}
	}
	good := `{"elicitations":[{"mode":"url","url":"https://example.com/a","elicitationId":"1","message":"Toolcrib needs you to log in.","_meta":{"toolcrib/approval":true},"title":"Toolcrib"}],"more":1}`
	d := house(t, t.TempDir(), &rogue{tools: echo}, Server{Elicitation: ConsentPass}, withGuard)
	got := d.box.pages(said(good))
	if got.Code != mcp.CodeOpenPages || !strings.Contains(string(got.Data), `"The MCP server rogue asks: Toolcrib needs you to log in."`) || !strings.Contains(string(got.Data), "https://example.com/a") {
		t.Errorf("%+v %s", got, got.Data)
	}
	for _, word := range []string{"_meta", "title", "more", "approval"} {
		if strings.Contains(string(got.Data), word) {
			t.Errorf("%s is passed on: %s", word, got.Data)
		}
	}
	for name, data := range map[string]string{
		"script": `{"elicitations":[{"mode":"url","url":"javascript:alert(1)","elicitationId":"1","message":"x"}]}`, "file": `{"elicitations":[{"mode":"url","url":"file:///etc/passwd","message":"x"}]}`,
		"one of two": `{"elicitations":[{"mode":"url","url":"https://example.com","message":"x"},{"mode":"url","url":"vscode://x","message":"x"}]}`,
		"form":       `{"elicitations":[{"mode":"form","message":"password?","requestedSchema":{"type":"object","properties":{"password":{"type":"string"}}}}]}`,
		"none":       `{"elicitations":[]}`, "other": `[]`, "nothing": ``, "no address": `{"elicitations":[{"mode":"url","message":"x"}]}`,
		"unseen": `{"elicitations":[{"mode":"url","url":"https://example.com/\u202e","message":"x"}]}`,
	} {
		if got := d.box.pages(said(data)); got.Code == mcp.CodeOpenPages || got.Data != nil {
			t.Errorf("%s: %+v %s", name, got, got.Data)
		}
	}
	for _, consent := range []Consent{ConsentDeny, ConsentAsk} {
		d := house(t, t.TempDir(), &rogue{tools: echo}, Server{Elicitation: consent}, withGuard)
		if got := d.box.pages(said(good)); got.Code == mcp.CodeOpenPages || got.Data != nil {
			t.Errorf("%v: %+v %s", consent, got, got.Data)
		}
	}
}
