package mcphub

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/text"
)

// canBeAsked is what a server of the modern era is told that this call can be
// asked for: what the client says it can, less what is not consented to here.
func (b *Box) canBeAsked(peer mcp.Peer) json.RawMessage {
	var all map[string]json.RawMessage
	if peer == nil || json.Unmarshal(peer.Capabilities(), &all) != nil || all == nil {
		all = map[string]json.RawMessage{}
	}
	for method, consent := range b.consents() {
		if consent == ConsentDeny {
			delete(all, ability(method))
		}
	}
	if b.samples() && !capable(peerCapabilities(peer), ability(mcp.MethodSample)) {
		all[ability(mcp.MethodSample)] = json.RawMessage(`{}`)
	}
	delete(all, "extensions") // of the client with us, not of us with the server
	text, err := json.Marshal(all)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return text
}

func peerCapabilities(peer mcp.Peer) json.RawMessage {
	if peer == nil {
		return json.RawMessage(`{}`)
	}
	return peer.Capabilities()
}

func (b *Box) consents() map[string]Consent {
	return map[string]Consent{mcp.MethodElicit: b.server.Elicitation, mcp.MethodSample: b.server.Sampling, mcp.MethodRoots: ConsentPass}
}

// ability is the name of the capability that a request needs.
func ability(method string) string {
	switch method {
	case mcp.MethodElicit:
		return "elicitation"
	case mcp.MethodSample:
		return "sampling"
	case mcp.MethodRoots:
		return "roots"
	}
	return ""
}

// asksMost is how often one call may ask, and for how much at once.
const asksMost = 16

// ask takes what a server wants to whoever made the call, as far as that is
// consented to.
func (b *Box) ask(ctx context.Context, env *toolcrib.Env, peer mcp.Peer, requests map[string]mcp.Request) (map[string]json.RawMessage, error) {
	answers := map[string]json.RawMessage{}
	forward := map[string]mcp.Request{}
	consents := b.consents()
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		r := requests[key]
		consent, known := consents[r.Method]
		if !known {
			return nil, mcp.Errorf(mcp.CodeMethodNotFound, "%s is not known here", r.Method)
		}
		if consent == ConsentDeny {
			return nil, mcp.Errorf(mcp.CodeInvalidRequest, "%s is switched off for this server", r.Method)
		}
		if !canAnswer(peer, r) {
			answer, err := b.answerHere(ctx, env, r)
			if err != nil {
				return nil, err
			}
			answers[key] = answer
			continue
		}
		if r.Method == mcp.MethodElicit && !goodPage(r.Params) {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "the page to open is no address of the web")
		}
		if consent == ConsentAsk {
			if err := b.consent(ctx, env, mcp.Request{Method: r.Method, Params: b.hide(r.Params)}); err != nil {
				return nil, err
			}
		}
		var err error
		if r.Params, err = b.harmlessRequest(r.Method, r.Params); err != nil {
			return nil, err
		}
		forward[key] = r
	}
	if len(forward) == 0 {
		return answers, nil
	}
	got, err := peer.Ask(ctx, forward)
	if err != nil {
		return nil, err
	}
	maps.Copy(answers, got)
	return answers, nil
}

// canAnswer reports whether whoever made the call can be asked for this. A form and
// a page to open are two abilities; a client that names neither can do forms.
func canAnswer(peer mcp.Peer, r mcp.Request) bool {
	if peer == nil || !capable(peer.Capabilities(), ability(r.Method)) {
		return false
	}
	if r.Method != mcp.MethodElicit {
		return true
	}
	var all, can, params map[string]json.RawMessage
	if json.Unmarshal(peer.Capabilities(), &all) != nil || json.Unmarshal(all[ability(r.Method)], &can) != nil {
		return false
	}
	if json.Unmarshal(r.Params, &params) != nil {
		return true // and is refused as what it is
	}
	_, form := can["form"]
	_, page := can["url"]
	if string(params["mode"]) == `"url"` {
		return page
	}
	return form || !page
}

// answerHere answers where the caller cannot be asked: a model of ours does, where the person
// wants that, and else nobody.
func (b *Box) answerHere(ctx context.Context, env *toolcrib.Env, r mcp.Request) (json.RawMessage, error) {
	if r.Method == mcp.MethodSample && b.samples() {
		return b.sample(ctx, env, r.Params)
	}
	return answerForNobody(r.Method)
}

// answerForNobody answers where the caller cannot be asked: a form is put aside, there
// are no folders to tell of, and no model.
func answerForNobody(method string) (json.RawMessage, error) {
	switch method {
	case mcp.MethodElicit:
		return json.RawMessage(`{"action":"cancel"}`), nil
	case mcp.MethodRoots:
		return json.RawMessage(`{"roots":[]}`), nil
	}
	return nil, mcp.Errorf(mcp.CodeInvalidRequest, "whoever made this call has no model to ask")
}

// consent asks a person here whether a server may have what it wants.
func (b *Box) consent(ctx context.Context, env *toolcrib.Env, r mcp.Request) error {
	refused := func(why string) error { return mcp.Errorf(mcp.CodeInvalidRequest, "%s", why) }
	if env.Ask == nil {
		return refused("a person has to consent to " + r.Method + ", and nobody is there to be asked")
	}
	text, whole := shown(r.Params)
	if !whole {
		return refused("what it wants is too long to be shown to a person")
	}
	answer, err := env.Ask(ctx, toolcrib.Question{
		Text:    fmt.Sprintf("The MCP server %s wants %s:\n\n%s\n\nMay it?", b.name, wanted(r.Method), text),
		Options: []string{"yes", "no"}, Effects: toolcrib.AsksPerson,
	})
	if err != nil {
		return refused("a person has to consent to " + r.Method + ", and has not")
	}
	if word := strings.ToLower(strings.TrimSpace(answer.Message)); answer.Decision != toolcrib.Allow || word != "yes" && word != "" {
		return refused("a person did not consent to " + r.Method)
	}
	return nil
}

func wanted(method string) string {
	if method == mcp.MethodSample {
		return "an answer of your model, made from this"
	}
	return "to ask you this"
}

// mostShown is how long a request is that a person is shown.
const mostShown = 20_000

// shown is a request as a person sees it, with what cannot be seen written out.
// One that is too long to be shown whole is not shown: what is consented to must
// have been seen.
func shown(params json.RawMessage) (string, bool) {
	if utf8.RuneCount(params) > mostShown {
		return "", false
	}
	return text.Show(string(params)), true
}

// goodPage reports whether a page that a person is to open, if there is one, is
// one of the web: another scheme would start a program of theirs.
func goodPage(params json.RawMessage) bool {
	// By its exact name, as clients take it: a struct would take Url for url.
	var all map[string]json.RawMessage
	if json.Unmarshal(params, &all) != nil {
		return false
	}
	if all["url"] == nil {
		return true
	}
	var text string
	if json.Unmarshal(all["url"], &text) != nil {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}
