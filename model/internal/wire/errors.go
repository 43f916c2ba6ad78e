package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/toolcrib/toolcrib/internal/refusal"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/model"
)

// Fault is what the bodies of errors say, in all the forms that there are.
type Fault struct {
	Message string
	Codes   []string // type, code, status and reasons, in lower case
	Wait    time.Duration
}

// Refused makes an error of an answer with a status that is none of success.
func Refused(status int, h http.Header, body []byte) *model.Error {
	f, ok := ReadFault(body)
	if !ok {
		f.Message = snippet(body)
	}
	if f.Message == "" {
		f.Message = http.StatusText(status)
	}
	wait := retryAfter(h, time.Now)
	if wait == 0 {
		wait = f.Wait
	}
	return &model.Error{Kind: kindOf(status, f), Status: status, Message: f.Message, Wait: wait}
}

// Late makes an error of what came in the middle of a stream, or with a status of
// success.
func Late(f Fault) *model.Error {
	return &model.Error{Kind: kindOf(0, f), Message: "the model's service says: " + f.Message, Wait: f.Wait}
}

// ReadFault reads an error in the form of any of the services, and reports whether it
// is one.
func ReadFault(body []byte) (Fault, bool) {
	var in struct {
		Error   json.RawMessage `json:"error"`
		Object  string          `json:"object"`
		Type    any             `json:"type"`
		Message string          `json:"message"`
		Code    any             `json:"code"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &in) != nil {
		var list []json.RawMessage // Gemini without alt=sse
		if json.Unmarshal(body, &list) == nil && len(list) == 1 {
			return ReadFault(list[0])
		}
		return Fault{}, false
	}
	f := Fault{}
	switch {
	case len(in.Error) > 0 && string(in.Error) != "null":
		f.inner(in.Error)
	case in.Object == "error" || in.Message != "":
		f.Message = in.Message
		f.codes(in.Type, in.Code)
	case len(in.Detail) > 0:
		var s string
		if json.Unmarshal(in.Detail, &s) != nil {
			s = string(in.Detail)
		}
		f.Message = s
	default:
		return Fault{}, false
	}
	f.Message = Clean(f.Message)
	if f.Message == "" {
		f.Message = "it did not say what is wrong"
	}
	return f, true
}

// inner reads what stands under "error": a text, or an object.
func (f *Fault) inner(raw json.RawMessage) {
	if json.Unmarshal(raw, &f.Message) == nil {
		return
	}
	var in struct {
		Message  string `json:"message"`
		Type     any    `json:"type"`
		Code     any    `json:"code"`
		Status   any    `json:"status"`
		Metadata struct {
			Raw string `json:"raw"` // OpenRouter: what the one behind it said
		} `json:"metadata"`
		Details []struct {
			Reason     string `json:"reason"`
			RetryDelay string `json:"retryDelay"`
		} `json:"details"`
	}
	if json.Unmarshal(raw, &in) != nil {
		f.Message = string(raw)
		return
	}
	f.Message = in.Message
	if in.Metadata.Raw != "" {
		f.Message += ": " + in.Metadata.Raw
	}
	f.codes(in.Type, in.Code, in.Status)
	for _, d := range in.Details {
		f.codes(d.Reason)
		if w, err := time.ParseDuration(d.RetryDelay); err == nil && w > 0 {
			f.Wait = w
		}
	}
}

func (f *Fault) codes(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			if v != "" {
				f.Codes = append(f.Codes, strings.ToLower(v))
			}
		case float64:
			f.Codes = append(f.Codes, strconv.Itoa(int(v)))
		}
	}
}

// kindOf says what can be done about an error. Words of the service count before its
// status, because services behind others keep the words and change the status.
func kindOf(status int, f Fault) string {
	has := func(words ...string) bool {
		for _, c := range f.Codes {
			if slices.Contains(words, c) {
				return true
			}
		}
		return false
	}
	said := strings.ToLower(f.Message)
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	if status == 0 { // a status in the body stands for the one that could not be sent
		for _, c := range f.Codes {
			if n, err := strconv.Atoi(c); err == nil && n >= 400 && n < 600 {
				status = n
			}
		}
	}
	request := status == 0 || status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusUnauthorized || status == http.StatusInternalServerError
	switch {
	case has("context_length_exceeded", "exceed_context_size_error", "request_too_large", "string_above_max_length"),
		request && says("maximum context length", "prompt is too long", "context size", "context window", "context length", "exceeds the maximum number of tokens", "input is too long", "too many tokens", "exceed context limit"),
		status == http.StatusRequestEntityTooLarge:
		return model.TooLong
	case has("invalid_api_key", "api_key_invalid", "authentication_error", "permission_error", "permission_denied", "unauthenticated", "insufficient_quota", "billing_error"),
		says("credit balance is too low", "api key not valid"),
		status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return model.BadKey
	case has("rate_limit_exceeded", "rate_limit_error", "overloaded_error", "resource_exhausted", "unavailable", "timeout_error"),
		says("overloaded"),
		status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == 529, status == http.StatusRequestTimeout:
		return model.Busy
	case has("invalid_request_error", "not_found_error", "invalid_argument", "not_found", "badrequesterror"),
		status >= 300 && status < 500:
		return model.BadRequest
	}
	return model.Broken
}

// retryAfter reads how long a service wants one to wait: in seconds, in milliseconds, or
// until a time.
func retryAfter(h http.Header, now func() time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1e6) * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now()))
	}
	return 0
}

// Cut is what a stream that broke off is told as.
func Cut(err error) error {
	message := "the answer of the model's service was cut off"
	if errors.Is(err, errEndless) || errors.Is(err, errTooBig) {
		message = err.Error()
	}
	return &model.Error{Kind: model.Broken, Message: message, Err: err}
}

// unreached says why there was no answer at all. The address is told without its path.
func (c *Client) unreached(ctx context.Context, err error) error {
	if context.Cause(ctx) == errIdle { //nolint:errorlint // it is that very value
		return c.silent()
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	out := &model.Error{Kind: model.Away, Err: err}
	no, refused := errors.AsType[*refusal.Error](err)
	_, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case refused:
		out.Kind, out.Message = model.BadRequest, no.Message
	case errors.Is(err, syscall.ECONNREFUSED):
		out.Message = fmt.Sprintf("nobody listens at %s: is the model's service running?", c.BaseURL)
	case unknown:
		out.Message = fmt.Sprintf("the host of %s cannot be found", c.BaseURL)
	default:
		out.Message = fmt.Sprintf("the model's service at %s cannot be reached: %s", c.BaseURL, Clean(err.Error()))
	}
	return out
}

// withoutKey takes the key out of what a service said, should it have said it.
func withoutKey(err error, key string) error {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || key == "" {
		return err
	}
	e.Message = strings.ReplaceAll(e.Message, key, "[key]")
	if cut, ok := strings.CutSuffix(e.Message, "…"); ok { // it may have been cut off in the middle of the key
		for n := len(key) - 1; n >= 4; n-- {
			if begin, ok := strings.CutSuffix(cut, key[:n]); ok {
				e.Message = begin + "[key]…"
				break
			}
		}
	}
	if e.Err != nil && strings.Contains(e.Err.Error(), key) {
		e.Err = nil
	}
	return err
}

// snippet is the beginning of an answer that nobody expected. Pages of HTML say nothing.
func snippet(body []byte) string {
	s := strings.TrimSpace(string(body))
	if strings.HasPrefix(s, "<") {
		return "a page of HTML instead of an answer"
	}
	return Clean(s)
}

// Clean makes what a service said fit to be shown.
func Clean(s string) string {
	return text.Clip(text.Show(strings.Join(strings.Fields(strings.ToValidUTF8(text.Head(s, 2000), "?")), " ")), 600)
}
