package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Message is one JSON-RPC message: a request (Method and ID), a notification
// (Method alone), or an answer (ID with Result or Error).
type Message struct {
	ID     json.RawMessage `json:"id"` // a string or a number; nil: none
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// Error is the error of an answer.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// The codes in use. Those from -32020 on belong to the modern era.
const (
	CodeParse              = -32700
	CodeInvalidRequest     = -32600
	CodeMethodNotFound     = -32601
	CodeInvalidParams      = -32602
	CodeInternal           = -32603
	CodeResourceNotFound   = -32002 // of the legacy era
	CodeHeaderMismatch     = -32020
	CodeMissingCapability  = -32021
	CodeUnsupportedVersion = -32022
	CodeOpenPages          = -32042 // the client has to open pages before it calls again
)

// Errorf makes an error of the protocol.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ErrorOf is an error as the other side is told it. What is no error of the
// protocol is internal.
func ErrorOf(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}

// IsRequest reports whether an answer is expected.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsAnswer reports whether this is an answer.
func (m *Message) IsAnswer() bool { return m.Method == "" }

// Parse reads a message. What is no JSON-RPC 2.0 message is an *Error with the
// code to answer it with; the message has its ID then, if one could be read.
func Parse(text []byte) (*Message, error) {
	var given struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   *Error          `json:"error"`
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		if !json.Valid(text) {
			return &Message{}, Errorf(CodeParse, "the message is not JSON")
		}
		return &Message{}, Errorf(CodeInvalidRequest, "the message is not a JSON-RPC object; batches are not taken")
	}
	if err := json.Unmarshal(text, &given); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return &Message{ID: goodID(given.ID)}, Errorf(CodeInvalidRequest, "the message is no JSON-RPC: %v", err)
		}
		return &Message{}, Errorf(CodeParse, "the message is not JSON, or is nested too deeply")
	}
	m := &Message{ID: given.ID, Params: given.Params, Result: given.Result, Error: given.Error}
	if given.Method != nil {
		m.Method = *given.Method
	}
	switch {
	case given.Version != "2.0":
		return &Message{ID: goodID(m.ID)}, Errorf(CodeInvalidRequest, `"jsonrpc" is not "2.0"`)
	case m.ID != nil && goodID(m.ID) == nil && (m.Error == nil || string(m.ID) != "null"):
		return &Message{}, Errorf(CodeInvalidRequest, "the id is neither a string nor a whole number of at most 18 digits")
	case given.Method != nil && m.Method == "":
		return &Message{ID: m.ID}, Errorf(CodeInvalidRequest, "the method has no name")
	case given.Method == nil && m.Error == nil && m.ID == nil:
		return &Message{}, Errorf(CodeInvalidRequest, "the result has no id")
	case given.Method == nil && m.Result == nil && m.Error == nil:
		return &Message{ID: goodID(m.ID)}, Errorf(CodeInvalidRequest, "the message has neither a method nor a result nor an error")
	}
	if string(m.Params) == "null" {
		m.Params = nil
	}
	return m, nil
}

// goodID gives an ID that can be echoed, and nil for any other. A number has at
// most 18 digits, so that every language has it as it is.
func goodID(id json.RawMessage) json.RawMessage {
	if len(id) == 0 || len(id) > 1024 {
		return nil
	}
	if id[0] == '"' {
		return id
	}
	digits := bytes.TrimPrefix(id, []byte("-"))
	if len(digits) == 0 || len(digits) > 18 {
		return nil
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return nil
		}
	}
	return id
}

// Append writes the message in one line, behind what is in buf.
func (m *Message) Append(buf []byte) ([]byte, error) {
	buf = append(buf, `{"jsonrpc":"2.0"`...)
	if m.ID != nil {
		buf = append(append(buf, `,"id":`...), m.ID...)
	} else if m.IsAnswer() {
		buf = append(buf, `,"id":null`...)
	}
	if m.Method != "" {
		name, err := json.Marshal(m.Method)
		if err != nil {
			return nil, fmt.Errorf("writing the name of a method: %w", err)
		}
		buf = append(append(buf, `,"method":`...), name...)
		if m.Params != nil {
			buf = append(append(buf, `,"params":`...), m.Params...)
		}
		return oneLine(append(buf, '}'))
	}
	if m.Error != nil {
		text, err := json.Marshal(m.Error)
		if err != nil {
			return nil, fmt.Errorf("writing an error: %w", err)
		}
		buf = append(append(buf, `,"error":`...), text...)
		return oneLine(append(buf, '}'))
	}
	if m.Result == nil {
		return append(buf, `,"result":{}}`...), nil
	}
	buf = append(append(buf, `,"result":`...), m.Result...)
	return oneLine(append(buf, '}'))
}

// oneLine takes line ends out of a text of JSON: within a string they are
// written otherwise, so those left are between its parts.
func oneLine(text []byte) ([]byte, error) {
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return text, nil
	}
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return nil, fmt.Errorf("writing a message: %w", err)
	}
	return out.Bytes(), nil
}
