package mcphub

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// What a server may have of a model of ours.
const (
	sampleTokens   = 4096      // of an answer, whatever it asks for
	sampleMessages = 100       // of a conversation
	sampleText     = 100 << 10 // bytes of text of all of them
	sampleImages   = 8
	sampleFor      = 3 * time.Minute
)

// codeRejected is how the protocol says that a person did not want a model to be asked.
const codeRejected = -1

// samples reports whether a model of ours answers this server where the client has none. The
// person has to have said so: it costs money, and the server decides what is asked.
func (b *Box) samples() bool {
	return b.server.SamplingModel != "" && b.server.Sampling != ConsentDeny && b.hub.needs.Model != nil
}

// sampleContent is one piece of a message of a sampling request.
type sampleContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Data string `json:"data"`
	MIME string `json:"mimeType"`
}

// sampleRequest is what a server wants to have answered.
type sampleRequest struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	System      string          `json:"systemPrompt"`
	MaxTokens   int             `json:"maxTokens"`
	Temperature *float64        `json:"temperature"`
	Stop        []string        `json:"stopSequences"`
	Tools       json.RawMessage `json:"tools"`
	ToolChoice  json.RawMessage `json:"toolChoice"`
}

// sample has a model of ours answer a server. It has no tools and knows nothing but what the
// server sends, which is marked as the server's.
func (b *Box) sample(ctx context.Context, env *toolcrib.Env, params json.RawMessage) (json.RawMessage, error) {
	safe, err := b.harmlessRequest(mcp.MethodSample, b.hide(params))
	if err != nil {
		return nil, err
	}
	request, err := sampleOf(safe)
	if err != nil {
		return nil, err
	}
	if b.server.Sampling == ConsentAsk {
		if err := b.consentToSample(ctx, env, request); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, sampleFor)
	defer cancel()
	asked, err := b.hub.needs.Model(ctx, b.server.SamplingModel, env.Call.Caller, env.Call.ID)
	if err != nil {
		return nil, b.unsampled(err)
	}
	if !asked.Traits().Images && slices.ContainsFunc(request.Messages, func(m model.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p model.Part) bool { return p.Data != nil })
	}) {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "the model takes no images")
	}
	answer, err := asked.Ask(ctx, request, nil)
	if err != nil {
		return nil, b.unsampled(err)
	}
	stop := "endTurn"
	if answer.Stop == model.StopLength {
		stop = "maxTokens"
	}
	return json.Marshal(struct {
		Role    string            `json:"role"`
		Content map[string]string `json:"content"`
		Model   string            `json:"model"`
		Stop    string            `json:"stopReason"`
	}{model.Assistant, map[string]string{"type": "text", "text": answer.Message.Said()}, b.server.SamplingModel, stop})
}

// unsampled tells a server that there is no answer. Why is for the log: it is about this
// machine and the person's account.
func (b *Box) unsampled(err error) error {
	b.hub.needs.Log.Warn("a request of an MCP server for an answer of the model failed", "server", b.name, "err", err)
	if e, ok := toolcrib.AsError(err); ok && e.Code == toolcrib.CodeDenied {
		return mcp.Errorf(codeRejected, "the model may not be asked for this server now")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return mcp.Errorf(mcp.CodeInternal, "the model did not answer in time")
	}
	return mcp.Errorf(mcp.CodeInternal, "the model could not be asked")
}

// sampleOf reads what a server wants, within our bounds.
func sampleOf(params json.RawMessage) (model.Request, error) {
	var in sampleRequest
	if err := json.Unmarshal(params, &in); err != nil {
		return model.Request{}, mcp.Errorf(mcp.CodeInvalidParams, "the params of %s cannot be read", mcp.MethodSample)
	}
	bad := func(format string, args ...any) (model.Request, error) {
		return model.Request{}, mcp.Errorf(mcp.CodeInvalidParams, format, args...)
	}
	switch {
	case present(in.Tools) || present(in.ToolChoice):
		return bad("the model that answers here is given no tools")
	case len(in.Messages) == 0 || len(in.Messages) > sampleMessages:
		return bad("there are %d messages; from 1 to %d are taken", len(in.Messages), sampleMessages)
	case len(in.Stop) > 16:
		return bad("there are too many stop sequences")
	case in.Temperature != nil && (*in.Temperature < 0 || *in.Temperature > 2):
		return bad("the temperature is a number from 0 to 2")
	case in.MaxTokens < 0:
		return bad("maxTokens is negative")
	}
	out := model.Request{System: in.System, Temperature: in.Temperature, Stop: in.Stop, MaxTokens: sampleTokens}
	if in.MaxTokens > 0 {
		out.MaxTokens = min(in.MaxTokens, sampleTokens)
	}
	size, images := len(in.System), 0
	for _, m := range in.Messages {
		if m.Role != model.User && m.Role != model.Assistant {
			return bad("the role of a message is user or assistant")
		}
		parts, err := samplePieces(m.Content)
		if err != nil {
			return model.Request{}, err
		}
		for _, p := range parts {
			size += len(p.Text)
			if p.Data != nil {
				images++
			}
		}
		out.Messages = append(out.Messages, model.Message{Role: m.Role, Parts: parts})
	}
	if size > sampleText || images > sampleImages {
		return bad("it is too long: at most %d bytes of text and %d images are taken", sampleText, sampleImages)
	}
	if out.Messages[len(out.Messages)-1].Role != model.User {
		return bad("the last message has to be of the user")
	}
	return out, nil
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// samplePieces reads the content of a message: one piece, or a list.
func samplePieces(raw json.RawMessage) ([]model.Part, error) {
	var list []sampleContent
	if json.Unmarshal(raw, &list) != nil {
		var one sampleContent
		if json.Unmarshal(raw, &one) != nil {
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "the content of a message cannot be read")
		}
		list = []sampleContent{one}
	}
	var out []model.Part
	for _, c := range list {
		switch c.Type {
		case "text":
			out = append(out, model.Part{Text: c.Text})
		case "image":
			data, err := base64.StdEncoding.DecodeString(c.Data)
			if err != nil || len(data) == 0 || len(data) > 4<<20 || !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, c.MIME) {
				return nil, mcp.Errorf(mcp.CodeInvalidParams, "an image is a PNG, JPEG, GIF or WebP of at most 4 MiB")
			}
			out = append(out, model.Part{Data: data, MIME: c.MIME})
		default:
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "only texts and images are taken")
		}
	}
	if len(out) == 0 {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "a message is empty")
	}
	return out, nil
}

// consentToSample asks a person whether a model of theirs may answer a server. They see all
// that it would be asked.
func (b *Box) consentToSample(ctx context.Context, env *toolcrib.Env, r model.Request) error {
	if env.Ask == nil {
		return mcp.Errorf(codeRejected, "a person has to consent to %s, and nobody is there to be asked", mcp.MethodSample)
	}
	var said strings.Builder
	for _, m := range append([]model.Message{model.Text("system", r.System)}, r.Messages...) {
		for _, p := range m.Parts {
			if p.Data != nil {
				fmt.Fprintf(&said, "%s: [an image, %s, %d bytes]\n", m.Role, p.MIME, len(p.Data))
			} else {
				fmt.Fprintf(&said, "%s: %s\n", m.Role, strings.ReplaceAll(p.Text, "\n", "\n  "))
			}
		}
	}
	if len([]rune(said.String())) > mostShown {
		return mcp.Errorf(codeRejected, "what it wants is too long to be shown to a person")
	}
	answer, err := env.Ask(ctx, toolcrib.Question{
		Text: fmt.Sprintf("The MCP server %s wants an answer of your model %s, of at most %d tokens and without tools. It gets the answer. It asks:\n\n%s\nMay it?",
			b.name, b.server.SamplingModel, r.MaxTokens, text.Show(said.String())),
		Options: []string{"yes", "no"}, Effects: toolcrib.AsksPerson | toolcrib.Network,
	})
	if err != nil {
		return mcp.Errorf(codeRejected, "a person has to consent to %s, and has not", mcp.MethodSample)
	}
	if word := strings.ToLower(strings.TrimSpace(answer.Message)); answer.Decision != toolcrib.Allow || word != "yes" && word != "" {
		return mcp.Errorf(codeRejected, "User rejected sampling request")
	}
	return nil
}
