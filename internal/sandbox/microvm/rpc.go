package microvm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The messages of the server's interface, as far as they are needed here.

type place struct {
	Sandbox   string `json:"sandbox"`
	Namespace string `json:"namespace"`
}

type startRequest struct {
	place
	Config machine `json:"config"`
}

type machine struct {
	Image   string   `json:"image"`
	Memory  int64    `json:"memory"` // MiB
	CPUs    int      `json:"cpus"`
	Volumes []string `json:"volumes"` // host:guest
}

type commandRequest struct {
	place
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout int64    `json:"timeout,omitempty"` // seconds
}

type commandAnswer struct {
	Output   outputText `json:"output"`
	ExitCode int        `json:"exit_code"`
}

type metricsAnswer struct {
	Sandboxes []struct {
		Name    string `json:"name"`
		Running bool   `json:"running"`
	} `json:"sandboxes"`
}

// outputText is the standard output. Servers give it as one text, as they are
// documented, or as a list of lines of both streams.
type outputText string

// UnmarshalJSON takes either form.
func (o *outputText) UnmarshalJSON(text []byte) error {
	var whole string
	if json.Unmarshal(text, &whole) == nil {
		*o = outputText(whole)
		return nil
	}
	var lines []struct {
		Stream string `json:"stream"`
		Text   string `json:"text"`
	}
	if err := json.Unmarshal(text, &lines); err != nil {
		return fmt.Errorf("the output of a program is neither a text nor a list of lines: %w", err)
	}
	var b strings.Builder
	for _, l := range lines {
		if l.Stream == "stdout" {
			b.WriteString(l.Text)
			b.WriteByte('\n')
		}
	}
	*o = outputText(b.String())
	return nil
}

// maxAnswer bounds what is read of an answer: both streams in base64, as lines
// in JSON, and some room.
const maxAnswer = 4 * (maxOutput + 1<<20)

type request struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
	ID      string `json:"id"`
}

type answer struct {
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	ID     json.RawMessage `json:"id"`
}

// call makes one call. Each has a connection's worth of time in its context.
func (s *Sandbox) call(ctx context.Context, method string, params, into any) error {
	const id = "1" // one call a request: there is nothing to tell apart
	body, err := json.Marshal(request{Version: "2.0", Method: method, Params: params, ID: id})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	text, status, err := s.send(ctx, http.MethodPost, "api/v1/rpc", body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	result, err := readAnswer(text, status)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(result, into); err != nil {
		return fmt.Errorf("%s: the answer cannot be read: %w", method, err)
	}
	return nil
}

func (s *Sandbox) health(ctx context.Context) error {
	_, status, err := s.send(ctx, http.MethodGet, "api/v1/health", nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the server answers with status %d", status)
	}
	return err
}

func (s *Sandbox) send(ctx context.Context, method, path string, body []byte) ([]byte, int, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	if s.cfg.Key != "" {
		r.Header.Set("Authorization", "Bearer "+s.cfg.Key)
	}
	response, err := s.http.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, 0, err
	}
	if len(text) > maxAnswer {
		return nil, 0, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return text, response.StatusCode, nil
}

// readAnswer gives the result of a call. A server tells its failures in one of
// two forms, with a text or with an object.
func readAnswer(text []byte, status int) (json.RawMessage, error) {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, fmt.Errorf("status %d and no JSON: %w", status, err)
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		var object struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		var word string
		switch {
		case json.Unmarshal(a.Error, &word) == nil:
		case json.Unmarshal(a.Error, &object) == nil:
			word = fmt.Sprintf("%s (%d)", object.Message, object.Code)
		default:
			word = "an error in a form that is not known"
		}
		return nil, fmt.Errorf("the server refuses with status %d: %s", status, word)
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("the server answers with status %d", status)
	}
	if len(a.Result) == 0 || string(a.Result) == "null" {
		return nil, errors.New("the answer holds no result")
	}
	return a.Result, nil
}
