package toolapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
)

// KeyHeader names a call, so that it can be sent again.
const KeyHeader = "Idempotency-Key"

// keyText is what such a name looks like.
var keyText = pattern.Of(`^[A-Za-z0-9_.:-]{8,128}$`)

// statuses is how each refusal looks over HTTP.
func statuses() map[toolcrib.Code]int {
	return map[toolcrib.Code]int{
		toolcrib.CodeInvalid:     http.StatusBadRequest,
		toolcrib.CodeNotFound:    http.StatusNotFound,
		toolcrib.CodeDenied:      http.StatusForbidden,
		toolcrib.CodeTimeout:     http.StatusGatewayTimeout,
		toolcrib.CodeCancelled:   httpapi.StatusCancelled,
		toolcrib.CodeUnavailable: http.StatusServiceUnavailable,
		toolcrib.CodeConflict:    http.StatusConflict,
		toolcrib.CodeInternal:    http.StatusInternalServerError,
	}
}

// Statuses are those that a call may be refused with, each once.
func Statuses() []int {
	list := append(slices.Collect(maps.Values(statuses())), http.StatusUnauthorized, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	slices.Sort(list)
	return slices.Compact(list)
}

// Config is what the frontend needs.
type Config struct {
	Crib *toolcrib.Crib
	// Tools are those that exist for a caller and belong into a document.
	Tools   func(toolcrib.Caller) []toolcrib.Entry
	Version string
	Most    int // bytes of a message
	// Lenient says of a dialect whether its callers expect coercion; nil: none does.
	Lenient func(dialect string) bool
	// Judge says what would become of a call. Nil: the guards of the crib do, which know
	// nothing of what the handles of the call would refuse.
	Judge func(context.Context, toolcrib.Call) (toolcrib.Judgement, error)

	judgeTime time.Duration // zero: judgeTime
	judging   chan struct{} // has room for as many judgements as are made at a time
}

// Via is the Caller.Frontend of every call that comes by this API.
const Via = "http"

// Mount adds the routes.
func (c Config) Mount(api *httpapi.API) {
	c.judging = make(chan struct{}, maxJudgements)
	api.Handle("GET /openapi.json", http.HandlerFunc(c.document))
	api.Handle("POST "+ToolsPath+"{name}", http.HandlerFunc(c.call))
	api.Handle("POST "+PermissionsPath, http.HandlerFunc(c.permissions))
	api.Handle(ToolsPath+"{name}", only(http.MethodPost))
	api.Handle(PermissionsPath, only(http.MethodPost))
	api.Handle("/openapi.json", only(http.MethodGet))
}

// only refuses other methods than the one there is.
func only(method string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		httpapi.DropBody(w)
		w.Header().Set("Allow", method)
		httpapi.Fail(w, http.StatusMethodNotAllowed, "this path takes "+method+" and nothing else")
	}
}

// caller is who sent a request.
func (c Config) caller(r *http.Request) toolcrib.Caller {
	holder, _ := httpapi.CallerOf(r.Context()) // the route lets nobody else in
	caller := holder.Caller
	caller.Frontend, caller.Client = Via, r.UserAgent()
	return caller
}

func (c Config) lenient(dialect string) bool { return c.Lenient != nil && c.Lenient(dialect) }

func (c Config) document(w http.ResponseWriter, r *http.Request) {
	text, err := Document(c.Tools(c.caller(r)), Options{Version: c.Version})
	if err != nil {
		httpapi.Fail(w, http.StatusInternalServerError, "the document cannot be written")
		return
	}
	send(w, http.StatusOK, text)
}

// body is what a request brings, or it is told what is wrong with it.
func (c Config) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Header.Get("Content-Type") != "" && (err != nil || kind != "application/json") {
		httpapi.DropBody(w)
		httpapi.Fail(w, http.StatusUnsupportedMediaType, "send the arguments as application/json")
		return nil, false
	}
	body, err := httpapi.ReadBody(w, r, c.Most)
	if err != nil {
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			httpapi.Fail(w, http.StatusRequestEntityTooLarge, "the arguments are too long")
		} else if !errors.Is(err, io.ErrUnexpectedEOF) || r.Context().Err() == nil {
			httpapi.Fail(w, http.StatusBadRequest, "the arguments could not be read")
		}
	}
	return body, err == nil
}

// call makes a call of a request.
func (c Config) call(w http.ResponseWriter, r *http.Request) {
	body, ok := c.body(w, r)
	if !ok {
		return
	}
	if keys := r.Header.Values(KeyHeader); len(keys) > 1 || len(keys) == 1 && !keyText.MatchString(keys[0]) {
		httpapi.Fail(w, http.StatusBadRequest, KeyHeader+" has to be there once, with 8 to 128 letters, digits, _ . : and -")
		return
	}
	caller := c.caller(r)
	result, err := c.Crib.Call(r.Context(), toolcrib.Call{ID: r.Header.Get(KeyHeader), Tool: r.PathValue("name"), Input: body, Caller: caller, Lenient: c.lenient(caller.Dialect)})
	if err != nil {
		refuse(w, err)
		return
	}
	text, err := json.Marshal(struct {
		Value   json.RawMessage    `json:"value,omitempty"`
		Content []toolcrib.Content `json:"content,omitempty"`
		Failed  bool               `json:"failed"`
	}{result.Value, result.Content, result.Failed})
	if err != nil {
		httpapi.Fail(w, http.StatusInternalServerError, "the result cannot be written")
		return
	}
	send(w, http.StatusOK, text)
}

// problem is a refusal on the wire.
type problem struct {
	Code    toolcrib.Code         `json:"code"`
	Message string                `json:"message"`
	Fields  []toolcrib.FieldError `json:"fields,omitempty"`
}

func problemOf(err error) problem {
	p := problem{Code: toolcrib.CodeOf(err), Message: "the call failed"}
	if _, known := statuses()[p.Code]; !known {
		p.Code = toolcrib.CodeInternal
	}
	if e, ok := toolcrib.AsError(err); ok {
		p.Message, p.Fields = e.Message, slices.Clone(e.Fields)
	}
	return p
}

// refuse tells why a call was not made.
func refuse(w http.ResponseWriter, err error) {
	f := struct {
		Error problem `json:"error"`
	}{problemOf(err)}
	status := statuses()[f.Error.Code]
	text, err := json.Marshal(f)
	if err != nil {
		httpapi.Fail(w, status, "the call was refused")
		return
	}
	send(w, status, text)
}

func send(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // who asked has gone, if this fails
}
