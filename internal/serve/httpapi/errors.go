package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/toolcrib/toolcrib"
)

// Failure is how every refusal looks that has no form of its own in the protocol
// of its route: {"error": {"code": …, "message": …}}.
type Failure struct {
	Error struct {
		Code    string `json:"code"` // one of toolcrib.Code, or unauthorized
		Message string `json:"message"`
	} `json:"error"`
}

// Fail refuses a request.
func Fail(w http.ResponseWriter, status int, message string) {
	var f Failure
	f.Error.Code, f.Error.Message = codeOf(status), message
	text, err := json.Marshal(f)
	if err != nil { // two texts always have a form
		panic(err)
	}
	h := w.Header()
	h.Del("Content-Length")
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // who asked has gone, if this fails
}

// Unauthorized refuses a stranger, whose message is not waited for.
func Unauthorized(w http.ResponseWriter, message string) {
	DropBody(w)
	w.Header().Set("WWW-Authenticate", "Bearer")
	Fail(w, http.StatusUnauthorized, message)
}

// StatusCancelled answers a call that was cancelled. It is no status of the standard,
// but the one that proxies log for a client that has gone.
const StatusCancelled = 499

// codeOf is the word for a status.
func codeOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "unauthorized"
	case http.StatusForbidden:
		return string(toolcrib.CodeDenied)
	case http.StatusNotFound:
		return string(toolcrib.CodeNotFound)
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return string(toolcrib.CodeTimeout)
	case StatusCancelled:
		return string(toolcrib.CodeCancelled)
	case http.StatusConflict:
		return string(toolcrib.CodeConflict)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusBadGateway:
		return string(toolcrib.CodeUnavailable)
	}
	if status >= http.StatusInternalServerError {
		return string(toolcrib.CodeInternal)
	}
	return string(toolcrib.CodeInvalid)
}
