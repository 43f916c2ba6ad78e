package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/toolcrib/toolcrib"
)

// request is one line from the client. It has no field for the caller.
type request struct {
	ID    string          `json:"id"`
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// response is one line to the client: a result or an error.
type response struct {
	ID     string           `json:"id,omitempty"`
	Result *toolcrib.Result `json:"result,omitempty"`
	Error  *refusal         `json:"error,omitempty"`
}

type refusal struct {
	Status  int                   `json:"status"`
	Code    toolcrib.Code         `json:"code"`
	Message string                `json:"message"`
	Bad     []toolcrib.FieldError `json:"bad,omitempty"`
}

// statusOf is this frontend's table from Code to wire. A code that is not in
// it is answered as our fault; the test checks that there is none.
func statusOf(code toolcrib.Code) (status int, ok bool) {
	switch code {
	case toolcrib.CodeInvalid:
		return 400, true
	case toolcrib.CodeDenied:
		return 403, true
	case toolcrib.CodeNotFound:
		return 404, true
	case toolcrib.CodeConflict:
		return 409, true
	case toolcrib.CodeCancelled:
		return 499, true
	case toolcrib.CodeInternal:
		return 500, true
	case toolcrib.CodeUnavailable:
		return 503, true
	case toolcrib.CodeTimeout:
		return 504, true
	}
	return 500, false
}

// decode reads a line strictly: a key this frontend does not know could be one
// that somebody relies on.
func decode(line []byte) (request, error) {
	var r request
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return request{}, fmt.Errorf("not a request: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return request{}, errors.New("not a request: there is more behind it")
	}
	return r, nil
}

// refused shows an error. Its cause is for the log and stays here.
func refused(id string, err error) response {
	e, ok := toolcrib.AsError(err)
	if !ok {
		e = &toolcrib.Error{Code: toolcrib.CodeInternal, Message: "the call broke down"}
	}
	status, _ := statusOf(e.Code)
	return response{ID: id, Error: &refusal{Status: status, Code: e.Code, Message: e.Message, Bad: e.Fields}}
}
