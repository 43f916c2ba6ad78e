package ovos

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/text"
)

// The topics of toolboxes on the bus.
const (
	topicDiscover = "ovos.persona.tools.discover"
	topicPrefix   = "ovos.persona.tools."
	topicSuffix   = ".call"
)

// ErrNoBus says that there is no bus, or none that lets us in. Nothing was sent.
var ErrNoBus = errors.New("no bus")

// noBus marks the error of a bus that is not there.
func noBus(err error) error {
	if errors.Is(err, bus.ErrNotConnected) {
		return fmt.Errorf("%w: %w", ErrNoBus, err)
	}
	return err
}

// ClientConfig says which bus a client uses.
type ClientConfig struct {
	URL        string       // empty: [DefaultURL]
	Token      string       // shown to the bus; empty: none
	TLS        *tls.Config  // for a wss URL; nil trusts what the system trusts
	MaxMessage int          // the largest message, in bytes; 0: 25 MiB, as voice assistants have it
	Source     string       // the name given as the sender of requests; empty: toolcrib-client
	Log        *slog.Logger // gets what goes wrong in the background; nil: nowhere
}

// Client is a program on a bus. Its methods may be used by many goroutines.
type Client struct{ bus *bus.Client }

// Dial connects to a bus, and gives up when ctx ends. A connection that breaks
// later is made again by itself.
func Dial(ctx context.Context, cfg ClientConfig) (*Client, error) {
	bus, err := bus.Open(bus.ClientConfig{
		URL: cfg.URL, Token: cfg.Token, TLS: cfg.TLS, MaxFrame: cfg.MaxMessage,
		Source: cmp.Or(cfg.Source, "toolcrib-client"), Log: cfg.Log,
	})
	if err != nil {
		return nil, err
	}
	if err := bus.Ready(ctx); err != nil {
		return nil, errors.Join(noBus(err), bus.Close())
	}
	return &Client{bus}, nil
}

// Close leaves the bus.
func (c *Client) Close() error { return c.bus.Close() }

// Toolbox is a toolbox as its host announces it. All of it is the host's claim.
type Toolbox struct {
	ID    string `json:"toolbox_id"`
	Tools []Tool `json:"tools"`
}

// Tool is a tool of it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Arguments   json.RawMessage `json:"argument_schema,omitempty"`
	Output      json.RawMessage `json:"output_schema,omitempty"`
}

// Toolboxes asks what toolboxes there are, and gives those that were announced
// within a window of time, by id; 0: 2 s. Hosts do not say when they are done,
// so it always takes that long. Answers that are not in the known form are left
// out.
func (c *Client) Toolboxes(ctx context.Context, window time.Duration) ([]Toolbox, error) {
	request, err := bus.NewMessage(topicDiscover, nil)
	if err != nil {
		return nil, err
	}
	answers, err := c.bus.Collect(ctx, request, bus.Answer{}, cmp.Or(window, 2*time.Second))
	if err != nil && !errors.Is(err, bus.ErrOverflow) {
		return nil, fmt.Errorf("asking for toolboxes: %w", noBus(err))
	}
	var list []Toolbox
	for _, m := range answers {
		var found Toolbox
		if json.Unmarshal(m.Data, &found) != nil || found.ID == "" {
			continue
		}
		i := slices.IndexFunc(list, func(t Toolbox) bool { return t.ID == found.ID })
		if i < 0 {
			list = append(list, Toolbox{ID: found.ID})
			i = len(list) - 1
		}
		list[i].add(found.Tools)
	}
	slices.SortFunc(list, func(a, b Toolbox) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// lookAgain is how long a host has before it is asked once more: it may just
// have been starting.
const lookAgain = time.Second

// Toolbox gives one toolbox as soon as it is announced, and asks for it until
// ctx ends.
func (c *Client) Toolbox(ctx context.Context, id string) (Toolbox, error) {
	request, err := bus.NewMessage(topicDiscover, nil)
	if err != nil {
		return Toolbox{}, err
	}
	var found Toolbox
	match := func(m bus.Message) bool {
		var of Toolbox
		return json.Unmarshal(m.Data, &of) == nil && of.ID == id
	}
	for {
		round, cancel := context.WithTimeout(ctx, lookAgain)
		m, err := c.bus.Ask(round, request, bus.Answer{Match: match})
		cancel()
		switch {
		case err == nil:
			if err := json.Unmarshal(m.Data, &found); err != nil {
				return Toolbox{}, fmt.Errorf("asking for the toolbox %s: %w", text.ShowLine(id), err)
			}
			return found, nil
		case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
			return Toolbox{}, fmt.Errorf("asking for the toolbox %s: %w", text.ShowLine(id), noBus(err))
		}
	}
}

// add takes the tools that are not there yet: hosts that were reloaded announce
// theirs more than once.
func (t *Toolbox) add(tools []Tool) {
	known := make(map[string]bool, len(t.Tools))
	for _, have := range t.Tools {
		known[have.Name] = true
	}
	for _, tool := range tools {
		if tool.Name != "" && !known[tool.Name] && len(t.Tools) < maxTools {
			known[tool.Name] = true
			t.Tools = append(t.Tools, tool)
		}
	}
}

// maxTools bounds what one toolbox may announce: anyone on the bus can.
const maxTools = 4096

// CallError is what a host answers instead of a result.
type CallError struct {
	Toolbox, Tool string
	Message       string // in the words of the host
	Detail        string // what it says besides; empty: nothing
}

// Error gives the host's words, without what nobody can see.
func (e *CallError) Error() string {
	if e.Detail == "" {
		return text.ShowForeign(e.Message)
	}
	return text.ShowForeign(strings.TrimSuffix(e.Message, ".") + ": " + e.Detail)
}

// Call calls a tool of a toolbox on the bus and gives its result. args is a
// struct, a map or a json.RawMessage, and has to be an object; nil is none. It waits
// for the answer until ctx ends, or for a minute if it never does: a toolbox
// that is not there answers nothing. The request is sent once. What the host
// answers instead of a result is a *[CallError].
func (c *Client) Call(ctx context.Context, toolbox, tool string, args any) (json.RawMessage, error) {
	kwargs, err := bus.Object(args)
	if err != nil {
		return nil, fmt.Errorf("calling %s: the arguments: %w", of(toolbox, tool), err)
	}
	request, err := bus.NewMessage(topicPrefix+toolbox+topicSuffix, map[string]any{"name": tool, "kwargs": kwargs})
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", of(toolbox, tool), err)
	}
	m, err := c.bus.Ask(ctx, request, bus.Answer{})
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", of(toolbox, tool), noBus(err))
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return nil, fmt.Errorf("calling %s: the answer is not in the known form: %w", of(toolbox, tool), err)
	}
	if said(answer.Error) {
		return nil, &CallError{toolbox, tool, words(answer.Error), words(answer.Detail)}
	}
	if !said(answer.Result) {
		return nil, &CallError{toolbox, tool, "it answered with neither a result nor an error", ""}
	}
	return answer.Result, nil
}

// Invoke calls a tool on the bus and reads its result as an Out.
func Invoke[Out any](ctx context.Context, c *Client, toolbox, tool string, args any) (Out, error) {
	var out Out
	result, err := c.Call(ctx, toolbox, tool, args)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(result, &out); err != nil {
		return out, fmt.Errorf("calling %s: its answer is not a %T: %w", of(toolbox, tool), out, err)
	}
	return out, nil
}

// of names a tool in an error, where every character has to be seen.
func of(toolbox, tool string) string { return text.ShowLine(tool + " of " + toolbox) }

// said reports whether there is a value.
func said(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// words is a text, or JSON if it is none.
func words(raw json.RawMessage) string {
	var text string
	if !said(raw) || json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
