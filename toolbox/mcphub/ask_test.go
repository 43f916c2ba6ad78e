package mcphub

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
)

// ableTo is a client whose person says yes to whatever it can be asked for.
type ableTo struct {
	accepter
	capabilities string
}

func (a *ableTo) Capabilities() json.RawMessage { return json.RawMessage(a.capabilities) }

// TestAsksOnlyWhatIsPossible: a server asks as it was told when it was started, and
// that was for all clients. Where this one cannot be asked, the server hears at once
// that nobody answered, as the protocol says it, and not an error.
func TestAsksOnlyWhatIsPossible(t *testing.T) {
	d := house(t, t.TempDir(), &rogue{tools: echo}, Server{Elicitation: ConsentPass}, withGuard)
	form := mcp.Request{Method: mcp.MethodElicit, Params: json.RawMessage(`{"message":"who?","requestedSchema":{"type":"object","properties":{}}}`)}
	page := mcp.Request{Method: mcp.MethodElicit, Params: json.RawMessage(`{"mode":"url","message":"log in","url":"https://example.com/","elicitationId":"1"}`)}
	for capabilities, can := range map[string]struct{ form, page bool }{
		`{}`:                                   {},
		`null`:                                 {},
		`{"elicitation":null}`:                 {},
		`{"elicitation":true}`:                 {},
		`{"elicitation":{}}`:                   {form: true},
		`{"elicitation":{"form":{}},"x":true}`: {form: true},
		`{"elicitation":{"url":{}}}`:           {page: true},
		`{"elicitation":{"form":{},"url":{}}}`: {form: true, page: true},
	} {
		for name, c := range map[string]struct {
			request mcp.Request
			can     bool
		}{"form": {form, can.form}, "page": {page, can.page}} {
			peer := &ableTo{capabilities: capabilities}
			got, err := d.box.ask(t.Context(), &toolcrib.Env{}, peer, map[string]mcp.Request{"q": c.request})
			want, asked := `{"action":"cancel"}`, int32(0)
			if c.can {
				want, asked = `{"action":"accept","content":{}}`, 1
			}
			if err != nil || string(got["q"]) != want || peer.asked.Load() != asked {
				t.Errorf("a %s of a client with %s: %s, %v", name, capabilities, got["q"], err)
			}
		}
	}
}
