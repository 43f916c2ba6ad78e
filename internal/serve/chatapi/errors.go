package chatapi

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// The types of errors that clients of OpenAI's know.
const (
	badRequest = "invalid_request_error"
	rateLimit  = "rate_limit_error"
	forbidden  = "permission_error"
	broken     = "api_error"
)

// refusal is an answer that is an error, in the form that clients of OpenAI's read.
type refusal struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   string `json:"-"`
	Code    string `json:"-"`
	// Wait is how long the client should wait before it tries again; 0: not said.
	Wait time.Duration `json:"-"`
	// Final: the same request must not be sent again by itself. Tools may have done something.
	Final bool `json:"-"`
}

func (e *refusal) Error() string { return e.Message }

// MarshalJSON writes null where there is nothing to say, as OpenAI does.
func (e *refusal) MarshalJSON() ([]byte, error) {
	type words struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	out := words{Message: e.Message, Type: e.Type}
	if e.Param != "" {
		out.Param = &e.Param
	}
	if e.Code != "" {
		out.Code = &e.Code
	}
	return json.Marshal(out)
}

// errorBody is the whole answer.
type errorBody struct {
	Error *refusal `json:"error"`
}

func invalid(param, message string) *refusal {
	return &refusal{Status: http.StatusBadRequest, Type: badRequest, Param: param, Message: message}
}

// noModel says that there is no such model, and why if that is known.
func noModel(name, why string) *refusal {
	if why == "" {
		why = "there is no model or agent " + strconv.Quote(text.Clip(name, 100)) + " here for you; GET " + ModelsPath + " lists those there are"
	}
	return &refusal{Status: http.StatusNotFound, Type: badRequest, Param: "model", Code: "model_not_found", Message: why}
}

// fail sends an error.
func fail(w http.ResponseWriter, e *refusal) {
	if e.Wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.Wait.Seconds()))))
	}
	if e.Final { // the SDKs of OpenAI send a request again after most errors, unless they are told not to
		w.Header().Set("X-Should-Retry", "false")
	}
	send(w, e.Status, errorBody{e})
}

// send answers with JSON.
func send(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		httpapi.Fail(w, http.StatusInternalServerError, "the answer cannot be written")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // who asked has gone, if this fails
}

// refusalOf says in OpenAI's words what went wrong.
func refusalOf(err error, name string) *refusal {
	if e, ok := errors.AsType[*refusal](err); ok {
		return e
	}
	if e, ok := toolcrib.AsError(err); ok { // before the model's: a request that was refused here never got there
		if cause, ok := errors.AsType[*model.Error](err); ok && e.Code != toolcrib.CodeDenied {
			return modelRefusal(cause)
		}
		return cribRefusal(e, name)
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return modelRefusal(e)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &refusal{Status: http.StatusGatewayTimeout, Type: broken, Code: "timeout", Message: "there was no answer in time"}
	}
	return &refusal{Status: http.StatusInternalServerError, Type: broken, Message: "the agent failed: " + text.Clip(redact.Text(err.Error()), 500)}
}

// cribRefusal is how a refusal of the crib looks: of the model itself, since those of tools
// are told to the model.
func cribRefusal(e *toolcrib.Error, name string) *refusal {
	out := &refusal{Status: http.StatusInternalServerError, Type: broken, Code: string(e.Code), Message: e.Message}
	switch e.Code {
	case toolcrib.CodeNotFound:
		return noModel(name, e.Message)
	case toolcrib.CodeInvalid:
		out.Status, out.Type = http.StatusBadRequest, badRequest
	case toolcrib.CodeDenied:
		out.Status, out.Type = http.StatusForbidden, forbidden
	case toolcrib.CodeTimeout:
		out.Status = http.StatusGatewayTimeout
	case toolcrib.CodeCancelled:
		out.Status = httpapi.StatusCancelled
	case toolcrib.CodeUnavailable:
		out.Status = http.StatusServiceUnavailable
	}
	return out
}

// modelRefusal is how an error of the model's service looks. Services quote the key that
// they do not take: it is this server's, and none of the client's business.
func modelRefusal(e *model.Error) *refusal {
	out := &refusal{Status: http.StatusBadGateway, Type: broken, Code: "model_" + e.Kind, Message: "the model behind this agent did not answer: " + text.Clip(redact.Text(e.Error()), 1000)}
	switch e.Kind {
	case model.BadKey:
		out.Message = "the model behind this agent did not take the key of this server; who runs it is helped by 'toolcrib models'"
	case model.BadRequest:
		out.Status, out.Type = http.StatusBadRequest, badRequest
	case model.TooLong:
		out.Status, out.Type, out.Param, out.Code = http.StatusBadRequest, badRequest, "messages", "context_length_exceeded"
	case model.Busy:
		out.Status, out.Type, out.Wait = http.StatusTooManyRequests, rateLimit, max(e.Wait, time.Second)
	case model.Away:
		out.Status = http.StatusServiceUnavailable
	}
	return out
}
