package chatapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// What a request may have of each.
const (
	mostMessages = 2000
	mostImages   = 32
	mostTools    = 128
	mostStops    = 16
	mostTokens   = 1 << 20
)

// SessionHeader says which conversation a request belongs to, and EventsHeader that the client
// wants to be told of tools.
const (
	SessionHeader = "X-Toolcrib-Session"
	EventsHeader  = "X-Toolcrib-Events"
)

// request is what a client sends. What is not in it is ignored.
type request struct {
	Model         string          `json:"model"`
	Messages      []chatMessage   `json:"messages"`
	Stream        bool            `json:"stream"`
	StreamOptions *streamOptions  `json:"stream_options"`
	MaxTokens     *int            `json:"max_tokens"`
	MaxCompletion *int            `json:"max_completion_tokens"`
	Temperature   *float64        `json:"temperature"`
	Stop          json.RawMessage `json:"stop"`
	N             *int            `json:"n"`
	Tools         []clientTool    `json:"tools"`
	ToolChoice    json.RawMessage `json:"tool_choice"`
	Parallel      *bool           `json:"parallel_tool_calls"`
	Functions     json.RawMessage `json:"functions"`
	Format        *answerFormat   `json:"response_format"`
	User          string          `json:"user"`
	Metadata      map[string]any  `json:"metadata"`
	Own           struct {
		Events bool `json:"events"`
	} `json:"toolcrib"`

	stops   []string
	noCalls bool
}

type streamOptions struct {
	Usage bool `json:"include_usage"`
}

// answerFormat is the form that the answer is to have.
type answerFormat struct {
	Type   string `json:"type"`
	Schema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// read takes a request apart, and refuses what cannot be done.
func (s *server) read(w http.ResponseWriter, r *http.Request) (*request, *refusal) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Header.Get("Content-Type") != "" && (err != nil || kind != "application/json") {
		httpapi.DropBody(w)
		return nil, &refusal{Status: http.StatusUnsupportedMediaType, Type: badRequest, Message: "send the request as application/json"}
	}
	body, err := httpapi.ReadBody(w, r, s.Most)
	if err != nil {
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			return nil, &refusal{Status: http.StatusRequestEntityTooLarge, Type: badRequest, Code: "request_too_large", Message: fmt.Sprintf("the request has more than %d bytes", s.Most)}
		}
		return nil, invalid("", "the request could not be read")
	}
	req, no := parse(body)
	if no == nil && r.Header.Get(EventsHeader) != "" {
		req.Own.Events = true
	}
	return req, no
}

// parse reads a request and checks everything that can be checked without the model.
func parse(body []byte) (*request, *refusal) {
	req := &request{}
	if err := json.Unmarshal(body, req); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, invalid(wrong.Field, "the field "+strconv.Quote(wrong.Field)+" cannot be a "+wrong.Value)
		}
		if no, ok := errors.AsType[*refusal](err); ok {
			return nil, no
		}
		return nil, invalid("", "the request is no JSON object")
	}
	switch {
	case len(bytes.TrimSpace(body)) > 0 && bytes.TrimSpace(body)[0] != '{':
		return nil, invalid("", "the request is no JSON object")
	case len(req.Messages) == 0:
		return nil, invalid("messages", "there are no messages")
	case len(req.Messages) > mostMessages:
		return nil, invalid("messages", fmt.Sprintf("there are %d messages; at most %d are taken", len(req.Messages), mostMessages))
	case req.N != nil && *req.N != 1:
		return nil, invalid("n", "one answer is given for one request: leave n out, or set it to 1")
	case len(req.Functions) > 0 && string(req.Functions) != "null":
		return nil, invalid("functions", "functions are the old form: send them as tools")
	case len(req.Tools) > mostTools:
		return nil, invalid("tools", fmt.Sprintf("there are %d tools; at most %d are taken", len(req.Tools), mostTools))
	case req.Temperature != nil && (*req.Temperature < 0 || *req.Temperature > 2):
		return nil, invalid("temperature", "the temperature is a number from 0 to 2")
	}
	for name, n := range map[string]*int{"max_tokens": req.MaxTokens, "max_completion_tokens": req.MaxCompletion} {
		if n != nil && (*n < 1 || *n > mostTokens) {
			return nil, invalid(name, name+" is a number from 1 to "+strconv.Itoa(mostTokens))
		}
	}
	var no *refusal
	if req.stops, no = stopsOf(req.Stop); no != nil {
		return nil, no
	}
	if req.noCalls, no = noCalls(req.ToolChoice); no != nil {
		return nil, no
	}
	if req.Format != nil {
		switch req.Format.Type {
		case "", "text", "json_object", "json_schema":
		default:
			return nil, invalid("response_format", "response_format.type is text, json_object or json_schema")
		}
	}
	return req, checkTools(req.Tools)
}

// limit is how long the answer may be; 0: not said.
func (r *request) limit() int {
	if r.MaxCompletion != nil {
		return *r.MaxCompletion
	}
	if r.MaxTokens != nil {
		return *r.MaxTokens
	}
	return 0
}

// stopsOf reads the texts that end an answer: one, several or none.
func stopsOf(raw json.RawMessage) ([]string, *refusal) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	var all []string
	if json.Unmarshal(raw, &all) != nil || len(all) > mostStops {
		return nil, invalid("stop", "stop is a text, or a list of at most "+strconv.Itoa(mostStops)+" texts")
	}
	return all, nil
}

// noCalls reads tool_choice: whether the model may call tools at all. It cannot be made to call
// one: which tools there are here is not the client's to know.
func noCalls(raw json.RawMessage) (bool, *refusal) {
	var word string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return false, nil
	case json.Unmarshal(raw, &word) != nil || word == "required":
		return false, invalid("tool_choice", "the model of this server cannot be made to call a tool: tool_choice is auto or none")
	case word != "auto" && word != "none":
		return false, invalid("tool_choice", "tool_choice is auto or none")
	}
	return word == "none", nil
}

// session names the conversation that a request belongs to: by what the client says, or by how
// the conversation began. It is a hash that has the caller in it, so that no client can name a
// conversation of somebody else, or one that came in another way.
func (r *request) session(who toolcrib.Caller, h http.Header) string {
	said := ""
	for _, name := range []string{h.Get(SessionHeader), h.Get("X-OpenWebUI-Chat-Id"), textOf(r.Metadata["session_id"]), textOf(r.Metadata["chat_id"]), r.User} {
		if said == "" {
			said = name
		}
	}
	kind := "named"
	if said == "" {
		kind = "begun"
		var b strings.Builder
		for _, m := range r.Messages {
			b.WriteString(m.Role + "\x00")
			b.Write(m.Content)
			b.WriteByte(0)
			if m.Role == roleUser {
				break
			}
		}
		said = b.String()
	}
	sum := sha256.New()
	for _, part := range []string{who.Organisation, who.Subject, who.Token, kind, said} {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part) // a hash takes everything
	}
	return "chat-" + hex.EncodeToString(sum.Sum(nil)[:12])
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}
